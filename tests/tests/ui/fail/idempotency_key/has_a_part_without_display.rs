//! A placeholder must be something to write.
use skail_runtime::skail_command;

#[skail_command(idempotency_key = "charge-{invoice}")]
async fn charge(invoice: Option<u64>) -> anyhow::Result<()> {
    let _ = invoice;
    Ok(())
}

fn main() {}
