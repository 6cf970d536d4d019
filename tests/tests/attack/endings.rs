//! Who waits for a result gets the one of now: not one of before, and not none at all.

use std::sync::Mutex;
use std::time::Duration;

use skail_runtime::ExecutionError;
use skail_runtime::history::Status;
use skail_runtime::prelude::*;
use skail_runtime::store::{Store, StoreError};

use super::support::{Bench, Gates, Runs, soon};

#[skail_function(retry_count = 0)]
async fn succeeds_the_second_time(#[state] runs: &Runs) -> anyhow::Result<u32> {
    let run = runs.count("succeeds_the_second_time");
    anyhow::ensure!(run == 2, "run {run}");
    Ok(run)
}

#[tokio::test]
async fn who_saw_the_failure_in_the_status_and_resumed_gets_what_comes_of_the_resume() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(succeeds_the_second_time()).await.unwrap();
    let failed = async {
        while execution.status().await.unwrap() != Status::Failed {
            tokio::task::yield_now().await;
        }
    };
    soon("the failure", failed).await;
    execution.resume().await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 2);
}

#[skail_command]
async fn waits_at_a_gate(#[state] gates: &Gates) -> anyhow::Result<u32> {
    gates.pass("gate").await;
    Ok(7)
}

#[skail_function]
async fn has_one_step() -> anyhow::Result<u32> {
    Ok(waits_at_a_gate().await?)
}

#[tokio::test]
async fn what_was_damaged_deleted_and_started_again_has_the_result_of_the_new_start() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let delay = Duration::from_secs(60);
    let start = || skail.start(has_one_step()).id("again");
    let damaged = start().delay(delay).await.unwrap();
    assert!(bench.store.damage(damaged.id()));
    bench.clock.step(60_000);
    let error = soon("the damage", damaged.result()).await.unwrap_err();
    assert!(matches!(
        error,
        ExecutionError::Store(StoreError::Damaged { .. })
    ));

    let deleted = bench.store.delete(vec![damaged.id().clone()]).await;
    assert_eq!(deleted.unwrap(), 1);
    let execution = start().await.unwrap();
    bench.gates.open("gate", 1);
    for handle in [&execution, &execution, &damaged] {
        assert_eq!(soon("the result", handle.result()).await.unwrap(), 7);
    }
}

static KEYS: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct GivesBack;

impl Drop for GivesBack {
    fn drop(&mut self) {
        KEYS.lock().unwrap().push(idempotency_key());
    }
}

#[skail_command(retry_count = 0, timeout = "1s")]
async fn holds_something(#[state] gates: &Gates) -> anyhow::Result<()> {
    let _held = GivesBack;
    gates.pass("never").await;
    Ok(())
}

#[skail_function(retry_count = 0)]
async fn is_timed_out() -> anyhow::Result<bool> {
    Ok(holds_something().await.is_err())
}

#[tokio::test]
async fn a_body_that_is_stopped_gives_back_under_its_own_key_what_it_held() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(is_timed_out()).id("held").await.unwrap();
    assert!(soon("the result", execution.result()).await.unwrap());
    assert_eq!(*KEYS.lock().unwrap(), ["held/0/holds_something"]);
}
