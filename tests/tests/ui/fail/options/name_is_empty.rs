//! A name to be found by.
use skail_runtime::skail_command;

#[skail_command(name = "")]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
