//! Half a retry.
use skail_runtime::skail_command;

#[skail_command(retry_count = 1.5)]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
