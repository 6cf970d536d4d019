//! The list of options.
use skail_runtime::skail_command;

#[skail_command(colour = "red")]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
