//! A name that nobody can give.
use skail_runtime::skail_command;

#[skail_command(dependency = "")]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
