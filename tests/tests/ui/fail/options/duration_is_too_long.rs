//! Longer than a due time can be.
use skail_runtime::skail_command;

#[skail_command(timeout = "40000d")]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
