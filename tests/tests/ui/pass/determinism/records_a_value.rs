//! What is only a value is no trap in the closure of a `record`, which keeps it.
use skail_runtime::prelude::*;

#[skail_function]
async fn process() -> anyhow::Result<()> {
    let home = record("home", || std::env::var("HOME").ok()).await?;
    let dice = skail_runtime::record("dice", || fastrand::u8(1..=6)).await?;
    let at = record("at", move || format!("{home:?} {dice} {:?}", std::time::SystemTime::now()));
    at.await?;
    Ok(())
}

fn main() {}
