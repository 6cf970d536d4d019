//! The compiler holds a constant to `u32`.
use skail_runtime::skail_command;

const MOST: u64 = 5;

#[skail_command(retry_count = MOST)]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
