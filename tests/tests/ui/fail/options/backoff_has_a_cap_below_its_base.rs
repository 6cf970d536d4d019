//! It would never grow.
use skail_runtime::skail_command;

#[skail_command(backoff(base = "10s", cap = "5s"))]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
