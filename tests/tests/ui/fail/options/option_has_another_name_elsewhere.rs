//! What other systems call it.
use skail_runtime::skail_command;

#[skail_command(max_retries = 3)]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
