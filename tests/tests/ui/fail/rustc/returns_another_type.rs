//! The message points into the body.
use skail_runtime::skail_function;

#[skail_function]
async fn process(invoice: u64) -> anyhow::Result<u64> {
    invoice
}

fn main() {}
