//! Parts have names.
use skail_runtime::skail_command;

#[skail_command(backoff(max = "10s"))]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
