//! A word alone.
use skail_runtime::skail_command;

#[skail_command(retry_count)]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
