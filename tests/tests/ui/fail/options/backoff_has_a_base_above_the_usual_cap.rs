//! The cap that is not written.
use skail_runtime::skail_command;

#[skail_command(backoff(base = "1m"))]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
