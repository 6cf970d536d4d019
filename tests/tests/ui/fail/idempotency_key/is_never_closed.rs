//! A brace that stays open.
use skail_runtime::skail_command;

#[skail_command(idempotency_key = "charge-{invoice")]
async fn charge(invoice: u64) -> anyhow::Result<()> {
    let _ = invoice;
    Ok(())
}

fn main() {}
