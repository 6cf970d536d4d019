//! Seconds are `s`.
use skail_runtime::skail_command;

#[skail_command(timeout = "10 seconds")]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
