//! A call that is dropped does nothing, and the compiler says so.
#![deny(unused_must_use)]

use skail_runtime::{skail_command, skail_function};

#[skail_command]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

#[skail_function]
async fn process(invoice: u64) -> anyhow::Result<()> {
    charge(invoice);
    Ok(())
}

fn main() {}
