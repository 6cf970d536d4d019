//! A command with state, options and documentation, called by a function.
#![deny(warnings)]
#![forbid(unsafe_code)]

use std::fmt;

use skail_runtime::{skail_command, skail_function};

pub struct Gateway;

#[derive(Debug)]
pub struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("refused")
    }
}

impl std::error::Error for Refused {}

/// Charges a card.
#[skail_command(
    retry_count = 8,
    backoff(base = "250ms", factor = 1.5, cap = "10s", jitter = "equal"),
    timeout = "10s",
    idempotency_key = "charge-{invoice_id}",
    name = "charge"
)]
pub async fn charge_card(
    #[state] _gateway: &Gateway,
    invoice_id: u64,
    amount: i64,
) -> Result<String, Refused> {
    if amount > 10 {
        return Err(Refused);
    }
    Ok(format!("{invoice_id}: {amount}"))
}

#[skail_command(blocking)]
fn write_file(text: String) -> anyhow::Result<()> {
    drop(text);
    Ok(())
}

/// Processes an order.
#[skail_function(retry_count = 3)]
pub async fn process_order(invoice_id: u64) -> anyhow::Result<String> {
    let receipt = charge_card(invoice_id, 5).await?;
    write_file(receipt.clone()).await?;
    Ok(receipt)
}

fn main() {
    let _call = process_order(7);
    let _body = charge_card::body(&Gateway, 7, 5);
    let _ = write_file::body(String::new());
}
