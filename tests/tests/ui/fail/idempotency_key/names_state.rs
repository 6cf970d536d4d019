//! State is not recorded.
use skail_runtime::skail_command;

pub struct Gateway;

#[skail_command(idempotency_key = "charge-{gateway}")]
async fn charge(#[state] gateway: &Gateway, invoice: u64) -> anyhow::Result<()> {
    let _ = (gateway, invoice);
    Ok(())
}

fn main() {}
