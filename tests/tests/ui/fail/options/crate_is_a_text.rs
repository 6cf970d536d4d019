//! A path, not its text.
use skail_runtime::skail_command;

#[skail_command(crate = "durable")]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
