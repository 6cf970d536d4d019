//! The idempotency key of a call: the same whenever and wherever its body runs, and no other call's.

use std::collections::BTreeSet;

use skail_runtime::prelude::*;

use super::support::{Bench, Gates, Keys, Runs};

#[skail_command(retry_count = 1)]
async fn sends_its_key(
    #[state] keys: &Keys,
    #[state] runs: &Runs,
    until: u32,
) -> anyhow::Result<()> {
    keys.note(idempotency_key());
    let run = runs.count("sends_its_key");
    anyhow::ensure!(run >= until, "run {run}");
    Ok(())
}

#[skail_function(retry_count = 1)]
async fn sends_until(until: u32) -> anyhow::Result<()> {
    Ok(sends_its_key(until).await?)
}

#[tokio::test]
async fn the_key_is_the_same_in_every_attempt_redelivery_and_after_a_resume() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(sends_until(6)).id("order-1").await.unwrap();
    execution.result().await.unwrap_err();
    execution.resume().await.unwrap();
    execution.result().await.unwrap();
    assert_eq!(bench.keys.all(), ["order-1/0/sends_its_key"; 6]);
}

#[skail_command]
async fn sends_its_key_and_waits(
    #[state] keys: &Keys,
    #[state] gates: &Gates,
) -> anyhow::Result<()> {
    keys.note(idempotency_key());
    gates.pass("sent").await;
    Ok(())
}

#[skail_function]
async fn sends_and_waits() -> anyhow::Result<()> {
    Ok(sends_its_key_and_waits().await?)
}

#[tokio::test]
async fn a_body_that_runs_again_because_its_process_died_offers_the_same_key() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    skail.start(sends_and_waits()).id("order-2").await.unwrap();
    bench.gates.reached("sent", 1).await;
    let skail = bench.crash(skail).await;
    bench.gates.reached("sent", 2).await;
    bench.gates.open("sent", 1);
    let execution = skail.start(sends_and_waits()).id("order-2").await.unwrap();
    execution.result().await.unwrap();
    assert_eq!(bench.keys.all(), ["order-2/0/sends_its_key_and_waits"; 2]);
}

#[skail_function]
async fn sends_three_at_once() -> anyhow::Result<()> {
    futures::try_join!(sends_its_key(0), sends_its_key(0), sends_its_key(0))?;
    Ok(())
}

#[tokio::test]
async fn calls_with_equal_arguments_have_keys_of_their_own() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    for id in ["one", "other"] {
        let execution = skail.start(sends_three_at_once()).id(id).await.unwrap();
        execution.result().await.unwrap();
    }
    let keys: BTreeSet<String> = bench.keys.all().into_iter().collect();
    assert_eq!(keys.len(), 6, "{keys:?}");
}

#[skail_command(retry_count = 2, idempotency_key = "charge-{invoice}-{cents}")]
async fn charges_invoice(#[state] keys: &Keys, invoice: String, cents: u64) -> anyhow::Result<()> {
    keys.note(idempotency_key());
    anyhow::bail!("{invoice} is not charged {cents}")
}

#[skail_function(retry_count = 0)]
async fn charges_two_invoices() -> anyhow::Result<()> {
    let _ = charges_invoice("A 1".to_owned(), 250).await;
    let _ = charges_invoice("B".to_owned(), 1).await;
    Ok(())
}

#[tokio::test]
async fn a_business_key_is_made_of_the_arguments() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(charges_two_invoices()).await.unwrap();
    execution.result().await.unwrap();
    let expected = ["charge-A 1-250"; 3].into_iter().chain(["charge-B-1"; 3]);
    assert_eq!(bench.keys.all(), expected.collect::<Vec<_>>());
}
