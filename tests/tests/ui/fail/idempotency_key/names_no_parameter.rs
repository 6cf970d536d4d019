//! A placeholder that is no parameter.
use skail_runtime::skail_command;

#[skail_command(idempotency_key = "charge-{order}")]
async fn charge(invoice: u64) -> anyhow::Result<()> {
    let _ = invoice;
    Ok(())
}

fn main() {}
