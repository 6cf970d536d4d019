//! A command that no code calls is told, like any function.
#![deny(dead_code)]

use skail_runtime::skail_command;

#[skail_command]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
