//! A suffix that is not `u32`.
use skail_runtime::skail_command;

#[skail_command(retry_count = 5u8)]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
