//! The nearest option is named.
use skail_runtime::skail_command;

#[skail_command(retry_cuont = 3)]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
