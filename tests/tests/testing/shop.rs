//! A small shop to be tested: its commands talk to a gateway that no test has.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skail_runtime::prelude::*;

/// What only production has.
pub(crate) struct Gateway;

#[derive(Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub(crate) enum GatewayError {
    #[error("the gateway answers {status}")]
    Status { status: u16 },
}

#[skail_command(retry_count = 8, idempotency_key = "charge-{order}")]
pub(crate) async fn charge(
    #[state] gateway: &Gateway,
    order: u32,
    cents: u32,
) -> Result<String, GatewayError> {
    let _ = (gateway, order, cents);
    Err(GatewayError::Status { status: 501 })
}

#[skail_command(blocking)]
pub(crate) fn print(#[state] gateway: &Gateway, label: String) -> anyhow::Result<()> {
    let _ = (gateway, label);
    anyhow::bail!("there is no printer")
}

/// What a shop has done, by idempotency key: done twice under one key it is done once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger(Arc<Mutex<BTreeMap<String, u32>>>);

impl Ledger {
    pub(crate) fn enter(&self, key: String, amount: u32) {
        self.0.lock().unwrap().insert(key, amount);
    }

    pub(crate) fn entries(&self) -> BTreeMap<String, u32> {
        self.0.lock().unwrap().clone()
    }
}

#[skail_command]
pub(crate) async fn reserve(#[state] ledger: &Ledger, order: u32) -> anyhow::Result<u32> {
    ledger.enter(idempotency_key(), order);
    Ok(order * 2)
}

#[skail_function]
pub(crate) async fn process(order: u32) -> anyhow::Result<String> {
    let articles = reserve(order).await?;
    let receipt = match charge(order, articles * 100)
        .timeout(Duration::from_secs(5))
        .await
    {
        Ok(receipt) => receipt,
        Err(error) => match error.downcast::<GatewayError>() {
            Some(GatewayError::Status { status }) => format!("refused with {status}"),
            None => error.to_string(),
        },
    };
    print(receipt.clone()).await?;
    Ok(receipt)
}
