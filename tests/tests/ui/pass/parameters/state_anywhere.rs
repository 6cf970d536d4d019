//! `#[state]` among the parameters, more than once, and in functions too.
#![deny(warnings)]

use std::sync::{Arc, Mutex};

use skail_runtime::{skail_command, skail_function};

pub trait Gateway: Send + Sync {}

pub struct Settings {
    limit: u64,
}

#[skail_command]
async fn charge(
    invoice: u64,
    #[state] gateway: &Arc<dyn Gateway>,
    amount: u64,
    #[state] ledger: &Mutex<Vec<u64>>,
) -> anyhow::Result<()> {
    let _ = (invoice, gateway, amount, ledger);
    Ok(())
}

#[skail_function]
async fn process(#[state] settings: &Settings, invoice: u64) -> anyhow::Result<()> {
    charge(invoice, settings.limit).await?;
    Ok(())
}

fn main() {
    let _ = process(1);
    let _ = process::body(&Settings { limit: 1 }, 1);
}
