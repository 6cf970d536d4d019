//! There is nothing to bound.
use skail_runtime::skail_command;

#[skail_command]
async fn charge(invoice: u64) -> anyhow::Result<u64>
where
    u64: Copy,
{
    Ok(invoice)
}

fn main() {}
