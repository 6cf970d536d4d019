//! A number in quotes.
use skail_runtime::skail_command;

#[skail_command(retry_count = "5")]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
