//! rustc says why, and the function stays.
use skail_runtime::{skail_command, skail_function};

#[skail_command]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    invoice.
}

#[skail_function]
async fn process() -> anyhow::Result<u64> {
    Ok(charge(7).await?)
}

fn main() {}
