//! A duration is a text.
use skail_runtime::skail_command;

#[skail_command(timeout = 10)]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
