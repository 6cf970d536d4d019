//! The same, by way of a name.
use skail_runtime::skail_command;

use uuid::Uuid;

async fn pay(_idempotency_key: Uuid) {}

#[skail_command]
async fn charge() -> anyhow::Result<()> {
    let idempotency_key = Uuid::now_v7();
    pay(idempotency_key).await;
    Ok(())
}

fn main() {}
