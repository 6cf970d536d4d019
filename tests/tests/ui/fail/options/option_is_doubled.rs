//! Twice the same.
use skail_runtime::skail_command;

#[skail_command(retry_count = 3, timeout = "1s", retry_count = 4)]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
