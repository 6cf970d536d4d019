//! Nothing is done in no time.
use skail_runtime::skail_command;

#[skail_command(timeout = "0s")]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
