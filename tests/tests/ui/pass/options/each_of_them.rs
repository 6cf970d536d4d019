//! Every option, in every way of writing it.
#![deny(warnings)]

use skail_runtime::{skail_command, skail_function};

const MOST: u32 = 8;

mod limits {
    pub const fn twice(number: u32) -> u32 {
        number * 2
    }
}

#[skail_command()]
async fn none() -> anyhow::Result<()> {
    Ok(())
}

#[skail_command(
    retry_count = MOST + limits::twice(1),
    backoff(base = "250ms", factor = 1.5, cap = "1m 30s", jitter = "decorrelated"),
    timeout = "2.5h",
    idempotency_key = "{{charge}}-{invoice:0>8}",
    dependency = "payment gateway",
    name = "charge a card",
    crate = ::skail_runtime,
)]
async fn all(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

#[skail_command(retry_count = 0, backoff(jitter = "none"), timeout = "1500us")]
async fn once() -> anyhow::Result<()> {
    Ok(())
}

#[skail_command(retry_count = 4_294_967_295u32, backoff(factor = 1, jitter = "equal"))]
async fn for_ever() -> anyhow::Result<()> {
    Ok(())
}

#[skail_function(
    retry_count = { MOST },
    backoff(cap = "1d", jitter = "full"),
    name = "process-order",
    crate = skail_runtime
)]
async fn process() -> anyhow::Result<u64> {
    none().await?;
    once().await?;
    for_ever().await?;
    Ok(all(1).await?)
}

fn main() {
    let _ = process();
}
