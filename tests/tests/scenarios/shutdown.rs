//! A shutdown in good order: it records what ended, gives leases back, and costs no attempt.

use std::time::Duration;

use skail_runtime::clock::Clock as _;
use skail_runtime::history::Event;
use skail_runtime::prelude::*;
use skail_runtime::store::StoreError;
use skail_runtime::{ExecutionError, FailureKind, StartError};

use super::support::{Bench, Gates, Runs, count, recorded, soon};

#[skail_command]
async fn takes_its_time(
    #[state] runs: &Runs,
    #[state] gates: &Gates,
) -> anyhow::Result<(u32, u32)> {
    let run = runs.count("takes_its_time");
    gates.pass("its time").await;
    Ok((run, attempt().number))
}

#[skail_command]
async fn comes_after(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("comes_after");
    Ok(())
}

#[skail_function]
async fn takes_time_then_goes_on() -> anyhow::Result<(u32, u32)> {
    let result = takes_its_time().await?;
    comes_after().await?;
    Ok(result)
}

fn is_start(event: &Event) -> bool {
    matches!(event, Event::CommandStarted { .. })
}

async fn engine_without_grace(bench: &Bench) -> Skail {
    let builder = bench.builder().shutdown_grace(Duration::ZERO);
    builder.start().await.unwrap()
}

async fn shut_down(skail: &Skail) {
    soon("the shutdown", skail.shutdown()).await.unwrap();
}

/// The next process over what the last one left.
async fn next_process(bench: &mut Bench) -> Skail {
    bench.store = bench.store.crash();
    engine_without_grace(bench).await
}

#[tokio::test]
async fn what_ends_within_the_grace_is_recorded_and_nothing_new_begins() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("graceful").unwrap();
    skail
        .start(takes_time_then_goes_on())
        .id(&id)
        .await
        .unwrap();
    bench.gates.reached("its time", 1).await;
    bench.gates.open("its time", 1);
    shut_down(&skail).await;
    assert_eq!(bench.runs.of("comes_after"), 0);

    let skail = next_process(&mut bench).await;
    let execution = skail.execution::<(u32, u32)>(&id).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), (1, 1));
    assert_eq!(
        bench.runs.of("takes_its_time"),
        1,
        "it was recorded before the shutdown returned"
    );
}

#[tokio::test]
async fn a_body_that_outlasts_the_grace_runs_again_as_the_same_attempt() {
    let mut bench = Bench::new();
    let skail = engine_without_grace(&bench).await;
    let id = ExecutionId::new("graceless").unwrap();
    skail
        .start(takes_time_then_goes_on())
        .id(&id)
        .await
        .unwrap();
    bench.gates.reached("its time", 1).await;
    shut_down(&skail).await;

    let skail = next_process(&mut bench).await;
    bench.gates.open("its time", 1);
    let execution = skail.execution::<(u32, u32)>(&id).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), (2, 1));
    assert_eq!(
        count(&execution, is_start).await,
        0,
        "the lease was given back: no suspect"
    );
}

#[tokio::test]
async fn a_shutdown_costs_no_attempt_where_starts_are_recorded_either() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("graceless").unwrap();
    skail
        .start(takes_time_then_goes_on())
        .id(&id)
        .await
        .unwrap();
    bench.gates.reached("its time", 1).await;
    skail.kill().await;
    for stops in 2..=10 {
        let skail = next_process(&mut bench).await;
        bench.gates.reached("its time", stops).await;
        shut_down(&skail).await;
    }

    let skail = next_process(&mut bench).await;
    bench.gates.open("its time", 1);
    let execution = skail.execution::<(u32, u32)>(&id).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), (11, 1));
    assert_eq!(count(&execution, is_start).await, 10);
}

#[skail_command(retry_count = 0)]
async fn pays_slowly(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("pays_slowly");
    std::future::pending().await
}

#[skail_function(retry_count = 0)]
async fn pays_once_slowly() -> anyhow::Result<FailureKind> {
    Ok(pays_slowly().await.unwrap_err().kind())
}

#[tokio::test]
async fn a_body_of_retry_count_0_that_outlasts_the_grace_is_interrupted() {
    let mut bench = Bench::new();
    let skail = engine_without_grace(&bench).await;
    let id = ExecutionId::new("slow payment").unwrap();
    skail.start(pays_once_slowly()).id(&id).await.unwrap();
    bench.runs.reached("pays_slowly", 1).await;
    shut_down(&skail).await;

    let skail = next_process(&mut bench).await;
    let execution = skail.execution(&id).await.unwrap();
    let kind: FailureKind = execution.result().await.unwrap();
    assert_eq!(
        (kind, bench.runs.of("pays_slowly")),
        (FailureKind::Interrupted, 1)
    );
}

#[skail_command(backoff(base = "10m", cap = "10m", jitter = "none"))]
async fn fails_once(#[state] runs: &Runs) -> anyhow::Result<u32> {
    anyhow::ensure!(runs.count("fails_once") > 1, "no");
    Ok(attempt().number)
}

#[skail_function]
async fn waits_ten_minutes() -> anyhow::Result<u32> {
    Ok(fails_once().await?)
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_what_only_waits() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("ten minutes").unwrap();
    let start = bench.clock.now();
    let still = bench.clock.working();
    let execution = skail.start(waits_ten_minutes()).id(&id).await.unwrap();
    let failed = |event: &Event| matches!(event, Event::CommandAttemptFailed { .. });
    recorded(&execution, failed).await;
    shut_down(&skail).await;
    assert_eq!(bench.clock.now(), start);

    let skail = next_process(&mut bench).await;
    drop(still);
    let execution = skail.execution::<u32>(&id).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 2);
    assert_eq!(bench.clock.since(start), Duration::from_secs(600));
}

#[tokio::test]
async fn who_waits_for_a_result_is_told_of_the_shutdown_and_nothing_can_be_started_after_it() {
    let bench = Bench::new();
    let skail = engine_without_grace(&bench).await;
    let execution = skail.start(takes_time_then_goes_on()).await.unwrap();
    bench.gates.reached("its time", 1).await;
    let both = async { futures::join!(execution.result(), shut_down(&skail)) };
    let (ended, ()) = soon("both", both).await;
    assert!(
        matches!(ended, Err(ExecutionError::Store(StoreError::Closed))),
        "{ended:?}"
    );
    let late = skail.start(takes_time_then_goes_on()).await;
    assert!(
        matches!(late, Err(StartError::Store(StoreError::Closed))),
        "{late:?}"
    );
    shut_down(&skail).await;
}
