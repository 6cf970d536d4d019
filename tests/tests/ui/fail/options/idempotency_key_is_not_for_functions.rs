//! What a start has instead.
use skail_runtime::skail_function;

#[skail_function(idempotency_key = "{invoice}")]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
