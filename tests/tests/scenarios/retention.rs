//! What has ended is deleted when its time is up, and nothing else ever is.

use std::time::Duration;

use skail_runtime::ExecutionError;
use skail_runtime::history::Status;
use skail_runtime::prelude::*;

use super::support::{Bench, Gates, Runs, soon};

const HOUR: Duration = Duration::from_secs(3_600);

#[skail_command]
async fn keeps_a_receipt(#[state] runs: &Runs) -> anyhow::Result<u32> {
    Ok(runs.count("keeps_a_receipt"))
}

#[skail_function]
async fn ends_well() -> anyhow::Result<u32> {
    Ok(keeps_a_receipt().await?)
}

#[skail_function(retry_count = 0)]
async fn ends_badly() -> anyhow::Result<u32> {
    anyhow::bail!("as always")
}

#[skail_command(retry_count = 1)]
async fn fails_twice(#[state] runs: &Runs) -> anyhow::Result<u32> {
    let run = runs.count("fails_twice");
    anyhow::ensure!(run > 2, "run {run}");
    Ok(run)
}

#[skail_function(retry_count = 0)]
async fn ends_well_once_resumed() -> anyhow::Result<u32> {
    Ok(fails_twice().await?)
}

#[skail_command]
async fn waits_for_somebody(#[state] gates: &Gates) -> anyhow::Result<()> {
    gates.pass("somebody").await;
    Ok(())
}

#[skail_function]
async fn goes_on() -> anyhow::Result<()> {
    waits_for_somebody().await?;
    Ok(())
}

async fn is_there(skail: &Skail, id: &str) -> bool {
    match skail.execution::<u32>(id).await {
        Ok(_) => true,
        Err(ExecutionError::Unknown { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}

async fn gone(skail: &Skail, id: &str) {
    soon(id, async {
        while is_there(skail, id).await {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[skail_function]
async fn awaits_nothing_recorded() -> anyhow::Result<u32> {
    std::future::pending::<()>().await;
    Ok(0)
}

/// Four executions: completed, failed, blocked, still running.
async fn one_of_each(bench: &Bench, skail: &Skail) {
    // Its body holds the clock, which from now on goes where the test wants.
    skail.start(goes_on()).id("running").await.unwrap();
    bench.gates.reached("somebody", 1).await;
    let good = skail.start(ends_well()).id("good").await.unwrap();
    good.result().await.unwrap();
    let bad = skail.start(ends_badly()).id("bad").await.unwrap();
    bad.result().await.unwrap_err();
    let blocked = skail.start(awaits_nothing_recorded());
    let blocked = blocked.id("blocked").await.unwrap();
    blocked.result().await.unwrap_err();
}

#[tokio::test]
async fn everything_is_kept_unless_a_time_is_set() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    one_of_each(&bench, &skail).await;
    bench.clock.step(i64::from(u32::MAX));
    let later = skail.start(ends_well()).await.unwrap();
    later.result().await.unwrap();
    for id in ["good", "bad", "blocked", "running"] {
        assert!(is_there(&skail, id).await, "{id}");
    }
}

#[tokio::test]
async fn what_has_ended_is_deleted_when_its_time_is_up_and_not_before() {
    let bench = Bench::new();
    let builder = bench.builder().keep_completed(HOUR).keep_failed(24 * HOUR);
    let skail = builder.start().await.unwrap();
    one_of_each(&bench, &skail).await;
    let minutes = |minutes: i64| bench.clock.step(minutes * 60_000);
    for _ in 0..5 {
        minutes(10);
        let looked = skail.start(ends_well()).await.unwrap();
        looked.result().await.unwrap();
        assert!(is_there(&skail, "good").await);
    }
    minutes(20);
    gone(&skail, "good").await;
    for id in ["bad", "blocked", "running"] {
        assert!(is_there(&skail, id).await, "{id}");
    }
    minutes(25 * 60);
    gone(&skail, "bad").await;
    for id in ["blocked", "running"] {
        assert!(is_there(&skail, id).await, "{id}");
    }
    bench.gates.open("somebody", 1);
    gone(&skail, "running").await;
    assert!(is_there(&skail, "blocked").await);
}

#[tokio::test]
async fn a_time_that_is_set_later_holds_for_what_ended_before() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    one_of_each(&bench, &skail).await;
    skail.kill().await;
    bench.store = bench.store.crash();
    bench.clock.step(3 * 3_600_000);
    let builder = bench.builder().keep_completed(HOUR);
    let skail = builder.start().await.unwrap();
    bench.gates.reached("somebody", 2).await;
    bench.clock.step(60_000);
    gone(&skail, "good").await;
    assert!(is_there(&skail, "bad").await);
}

#[tokio::test]
async fn an_id_is_free_after_a_deletion_by_hand() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    one_of_each(&bench, &skail).await;
    for id in ["good", "bad", "blocked"] {
        let execution = skail.execution::<u32>(id).await.unwrap();
        execution.delete().await.unwrap();
        assert!(!is_there(&skail, id).await);
        let error = execution.delete().await.unwrap_err();
        assert!(matches!(error, ExecutionError::Unknown { .. }), "{error}");
    }
    let running = skail.execution::<()>("running").await.unwrap();
    let error = running.delete().await.unwrap_err();
    let refused = matches!(
        error,
        ExecutionError::NotDeletable {
            status: Status::Running,
            ..
        }
    );
    assert!(refused, "{error}");
    // The same start does the work again.
    let again = skail.start(ends_well()).id("good").await.unwrap();
    assert_eq!(again.result().await.unwrap(), 2);
    bench.gates.open("somebody", 1);
    running.result().await.unwrap();
    running.delete().await.unwrap();
}

#[tokio::test]
async fn what_was_resumed_is_not_deleted() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let bad = skail
        .start(ends_well_once_resumed())
        .id("bad")
        .await
        .unwrap();
    bad.result().await.unwrap_err();
    skail.kill().await;
    // Nobody works any more; the resume is acknowledged all the same.
    bad.resume().await.unwrap();
    let error = bad.delete().await.unwrap_err();
    assert!(
        matches!(error, ExecutionError::NotDeletable { .. }),
        "{error}"
    );
    bench.store = bench.store.crash();
    bench.clock.step(30 * 24 * 3_600_000);
    let builder = bench.builder().keep_failed(HOUR);
    let skail = builder.start().await.unwrap();
    let bad = skail.execution::<u32>("bad").await.unwrap();
    soon("the resume", async {
        while bad.status().await.unwrap() != Status::Completed {
            tokio::task::yield_now().await;
        }
    })
    .await;
}
