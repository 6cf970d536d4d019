//! No `Duration` either.
use skail_runtime::skail_command;

#[skail_command(timeout = Duration::from_secs(10))]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
