//! A later release.
use skail_runtime::skail_function;

#[skail_function(timeout = "10s")]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
