//! A factor below one.
use skail_runtime::skail_command;

#[skail_command(backoff(factor = 0.5))]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
