//! A name in quotes.
use skail_runtime::skail_command;

#[skail_command(name = charge)]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
