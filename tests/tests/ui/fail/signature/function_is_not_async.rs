//! A function that could not wait for its commands.
use skail_runtime::skail_function;

#[skail_function]
fn process(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
