//! The parts go in parentheses.
use skail_runtime::skail_command;

#[skail_command(backoff = "500ms")]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
