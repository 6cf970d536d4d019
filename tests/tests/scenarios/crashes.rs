//! The process dies: which starts count, what is recorded when, and what never runs again.

use skail_runtime::clock::Clock as _;
use skail_runtime::history::Event;
use skail_runtime::prelude::*;
use skail_runtime::{ExecutionError, FailureKind};

use super::support::{Bench, Gates, Runs, count, recorded};

fn is_start(event: &Event) -> bool {
    matches!(event, Event::CommandStarted { .. })
}

#[skail_command(retry_count = 2)]
async fn kills_its_process(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("kills_its_process");
    std::future::pending().await
}

#[skail_command(retry_count = 2, backoff(base = "1h", cap = "1h"))]
async fn kills_its_process_each_hour(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("kills_its_process_each_hour");
    std::future::pending().await
}

/// Even runs kill the process, odd ones only fail.
#[skail_command(retry_count = 4)]
async fn kills_or_fails(#[state] runs: &Runs) -> anyhow::Result<()> {
    if runs.count("kills_or_fails").is_multiple_of(2) {
        runs.count("kills_or_fails, killing");
        std::future::pending().await
    }
    anyhow::bail!("only a failure")
}

type Seen = (FailureKind, u32);

#[skail_function(retry_count = 0)]
async fn calls_the_poison() -> anyhow::Result<Seen> {
    let error = kills_its_process().await.unwrap_err();
    Ok((error.kind(), error.attempts()))
}

#[skail_function(retry_count = 0)]
async fn calls_the_hourly_poison() -> anyhow::Result<Seen> {
    let error = kills_its_process_each_hour().await.unwrap_err();
    Ok((error.kind(), error.attempts()))
}

#[skail_function(retry_count = 0)]
async fn calls_the_moody_poison() -> anyhow::Result<Seen> {
    let error = kills_or_fails().await.unwrap_err();
    Ok((error.kind(), error.attempts()))
}

/// Kills the process whenever `name` was counted once more, until the execution has its result.
async fn live_through(bench: &mut Bench, mut skail: Skail, id: &ExecutionId, name: &str) -> Seen {
    for crashes in 1.. {
        let execution = skail.execution::<Seen>(id).await.unwrap();
        let runs = bench.runs.clone();
        tokio::select! {
            biased;
            ended = execution.result() => return ended.unwrap(),
            () = runs.reached(name, crashes) => skail = bench.crash(skail).await,
        }
    }
    unreachable!()
}

#[tokio::test]
async fn a_command_that_kills_its_process_ends_after_two_starts_and_its_retry_count() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("poison").unwrap();
    skail.start(calls_the_poison()).id(&id).await.unwrap();
    let seen = live_through(&mut bench, skail, &id, "kills_its_process").await;
    assert_eq!(seen, (FailureKind::Interrupted, 3));
    assert_eq!(bench.runs.of("kills_its_process"), 2 + 2);
}

#[tokio::test]
async fn no_start_is_forgotten_when_the_execution_leaves_memory_between_crashes() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("poison").unwrap();
    skail
        .start(calls_the_hourly_poison())
        .id(&id)
        .await
        .unwrap();
    let seen = live_through(&mut bench, skail, &id, "kills_its_process_each_hour").await;
    assert_eq!(seen, (FailureKind::Interrupted, 3));
    assert_eq!(bench.runs.of("kills_its_process_each_hour"), 2 + 2);
}

#[tokio::test]
async fn no_start_is_forgotten_when_attempts_between_crashes_only_fail() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("poison").unwrap();
    skail.start(calls_the_moody_poison()).id(&id).await.unwrap();
    let seen = live_through(&mut bench, skail, &id, "kills_or_fails, killing").await;
    assert_eq!(seen.1, 5);
    let starts = bench.runs.of("kills_or_fails");
    assert!(starts <= 2 + 4, "{starts} starts");
}

#[skail_command]
async fn passes_a_gate(#[state] gates: &Gates, name: String) -> anyhow::Result<()> {
    gates.pass(&name).await;
    Ok(())
}

#[skail_function(retry_count = 0)]
async fn passes_three_gates() -> anyhow::Result<()> {
    for gate in ["one", "two", "three"] {
        passes_a_gate(gate.to_owned()).await?;
    }
    Ok(())
}

#[tokio::test]
async fn starts_are_recorded_after_a_crash_until_the_next_result_and_never_without_one() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("gates").unwrap();
    let execution = skail.start(passes_three_gates()).id(&id).await.unwrap();
    bench.gates.open("one", 1);
    bench.gates.reached("two", 1).await;
    assert_eq!(count(&execution, is_start).await, 0);

    let skail = bench.crash(skail).await;
    bench.gates.reached("two", 2).await;
    let execution = skail.execution::<()>(&id).await.unwrap();
    assert_eq!(count(&execution, is_start).await, 1);
    bench.gates.open("two", 1);
    bench.gates.open("three", 1);
    execution.result().await.unwrap();
    assert_eq!(count(&execution, is_start).await, 1);
}

#[skail_command(retry_count = 0)]
async fn pays_at_most_once(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("pays_at_most_once");
    std::future::pending().await
}

#[skail_function(retry_count = 1)]
async fn pays(catches: bool) -> anyhow::Result<String> {
    match pays_at_most_once().await {
        Err(error) if catches => Ok(format!("{error}")),
        Err(error) => Err(error.into()),
        Ok(()) => Ok("paid".to_owned()),
    }
}

#[tokio::test]
async fn a_body_of_retry_count_0_that_the_process_died_in_is_interrupted_and_not_run_again() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("payment").unwrap();
    let execution = skail.start(pays(true)).id(&id).await.unwrap();
    bench.runs.reached("pays_at_most_once", 1).await;
    assert_eq!(count(&execution, is_start).await, 1, "before the body ran");

    let skail = bench.crash(skail).await;
    let execution = skail.execution::<String>(&id).await.unwrap();
    let text = execution.result().await.unwrap();
    assert_eq!(
        text,
        "command `pays_at_most_once` (position 0) interrupted after 1 attempt: the command's body \
         began, and its process died or its call was dropped before it ended: whether its effect happened \
         is unknown"
    );
    assert_eq!(bench.runs.of("pays_at_most_once"), 1);
}

#[tokio::test]
async fn an_interrupted_command_runs_neither_at_a_redelivery_nor_after_a_resume() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("payment").unwrap();
    skail.start(pays(false)).id(&id).await.unwrap();
    bench.runs.reached("pays_at_most_once", 1).await;

    let skail = bench.crash(skail).await;
    let execution = skail.execution::<String>(&id).await.unwrap();
    for _ in 0..2 {
        let error = execution.result().await.unwrap_err();
        assert!(
            matches!(error, ExecutionError::Failed { attempts: 2, .. }),
            "{error}"
        );
        execution.resume().await.unwrap();
    }
    execution.result().await.unwrap_err();
    assert_eq!(bench.runs.of("pays_at_most_once"), 1);
}

#[skail_command(backoff(jitter = "none"))]
async fn fails_six_times(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("fails_six_times");
    anyhow::bail!("no")
}

#[skail_function(retry_count = 1)]
async fn counts_over_crashes() -> anyhow::Result<u32> {
    Ok(fails_six_times().await.unwrap_err().attempts())
}

#[tokio::test]
async fn attempts_are_counted_over_a_crash_after_each_of_them() {
    let mut bench = Bench::new();
    let mut skail = bench.engine().await;
    let id = ExecutionId::new("counted").unwrap();
    skail.start(counts_over_crashes()).id(&id).await.unwrap();
    let still = bench.clock.working();
    for failed in 1..=5 {
        let execution = skail.execution::<u32>(&id).await.unwrap();
        recorded(&execution, |event| {
            matches!(event, Event::CommandAttemptFailed { attempt, .. } if *attempt == failed)
        })
        .await;
        assert_eq!(bench.runs.of("fails_six_times"), failed);
        skail = bench.crash(skail).await;
        bench.clock.step(30_000);
    }
    drop(still);
    let execution = skail.execution::<u32>(&id).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 6);
    assert_eq!(bench.runs.of("fails_six_times"), 6);
}

#[skail_function(retry_count = 3, backoff(jitter = "none"))]
async fn fails_four_times(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("fails_four_times");
    anyhow::bail!("no")
}

#[tokio::test]
async fn redeliveries_are_counted_over_a_crash_after_each_of_them() {
    let mut bench = Bench::new();
    let mut skail = bench.engine().await;
    let id = ExecutionId::new("counted").unwrap();
    let still = bench.clock.working();
    skail.start(fails_four_times()).id(&id).await.unwrap();
    for failed in 1..=3 {
        let execution = skail.execution::<()>(&id).await.unwrap();
        recorded(&execution, |event| {
            matches!(event, Event::FunctionAttemptFailed { attempt, .. } if *attempt == failed)
        })
        .await;
        skail = bench.crash(skail).await;
        bench.clock.step(30_000);
    }
    drop(still);
    let execution = skail.execution::<()>(&id).await.unwrap();
    let error = execution.result().await.unwrap_err();
    assert!(
        matches!(error, ExecutionError::Failed { attempts: 4, .. }),
        "{error}"
    );
    assert_eq!(bench.runs.of("fails_four_times"), 4);
}
