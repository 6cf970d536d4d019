//! A function waits.
use skail_runtime::skail_function;

#[skail_function(blocking)]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
