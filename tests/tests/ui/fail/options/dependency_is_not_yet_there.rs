//! A later release.
use skail_runtime::skail_command;

#[skail_command(dependency = "gateway")]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
