//! A later release.
use skail_runtime::skail_command;

#[skail_command(compensate_with = refund)]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
