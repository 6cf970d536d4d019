//! The word says it all.
use skail_runtime::skail_command;

#[skail_command(blocking = true)]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
