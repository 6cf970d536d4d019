//! The attempt table: how often a body runs when it fails.

use skail_runtime::history::{Event, Status};
use skail_runtime::prelude::*;
use skail_runtime::{ExecutionError, FailureKind};

use super::support::{Bench, Runs, count};

#[skail_command]
async fn always_fails(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("always_fails");
    anyhow::bail!("the cupboard is bare")
}

#[skail_function(retry_count = 0)]
async fn catches() -> anyhow::Result<u32> {
    match always_fails().await {
        Ok(()) => anyhow::bail!("it cannot succeed"),
        Err(error) => Ok(error.attempts()),
    }
}

#[tokio::test]
async fn a_command_that_always_fails_runs_six_times() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(catches()).await.unwrap();
    let attempts = execution.result().await.unwrap();
    assert_eq!((attempts, bench.runs.of("always_fails")), (6, 6));
}

#[skail_function]
async fn never_catches() -> anyhow::Result<()> {
    always_fails().await?;
    Ok(())
}

#[tokio::test]
async fn a_command_that_is_never_caught_runs_sixteen_times_six_times() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(never_catches()).await.unwrap();
    let error = execution.result().await.unwrap_err();
    assert!(
        matches!(error, ExecutionError::Failed { attempts: 16, .. }),
        "{error}"
    );
    assert_eq!(bench.runs.of("always_fails"), 16 * 6);
    assert_eq!(execution.status().await.unwrap(), Status::Failed);
    let redelivered = |event: &Event| {
        matches!(
            event,
            Event::FunctionAttemptFailed {
                retry_at: Some(_),
                ..
            }
        )
    };
    assert_eq!(count(&execution, redelivered).await, 15);
}

#[skail_command(retry_count = 0)]
async fn never_retried(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("never_retried");
    anyhow::bail!("no")
}

#[skail_command(retry_count = 1)]
async fn retried_once(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("retried_once");
    anyhow::bail!("no")
}

#[skail_command(retry_count = 8)]
async fn retried_eight_times(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("retried_eight_times");
    anyhow::bail!("no")
}

#[skail_function(retry_count = 0)]
async fn tries_each() -> anyhow::Result<Vec<u32>> {
    let errors = [
        never_retried().await.unwrap_err(),
        retried_once().await.unwrap_err(),
        retried_eight_times().await.unwrap_err(),
    ];
    Ok(errors.iter().map(CommandError::attempts).collect())
}

#[tokio::test]
async fn retry_counts_of_0_1_and_8_give_1_2_and_9_runs() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(tries_each()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), [1, 2, 9]);
    let runs = ["never_retried", "retried_once", "retried_eight_times"];
    assert_eq!(runs.map(|command| bench.runs.of(command)), [1, 2, 9]);
}

#[skail_function]
async fn never_catches_what_is_never_retried() -> anyhow::Result<()> {
    never_retried().await?;
    Ok(())
}

#[tokio::test]
async fn a_command_with_retry_count_0_runs_once_in_all_however_often_its_function_is_redelivered() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail
        .start(never_catches_what_is_never_retried())
        .await
        .unwrap();
    let error = execution.result().await.unwrap_err();
    assert!(
        matches!(error, ExecutionError::Failed { attempts: 16, .. }),
        "{error}"
    );
    assert_eq!(bench.runs.of("never_retried"), 1);

    execution.resume().await.unwrap();
    execution.result().await.unwrap_err();
    assert_eq!(bench.runs.of("never_retried"), 1, "after a resume");
}

#[skail_function(retry_count = 0)]
async fn overrides_for_one_call() -> anyhow::Result<[u32; 3]> {
    let three = always_fails().retry_count(2).await.unwrap_err();
    let one = always_fails().retry_count(0).await.unwrap_err();
    let six = always_fails().await.unwrap_err();
    Ok([three.attempts(), one.attempts(), six.attempts()])
}

#[tokio::test]
async fn an_override_holds_for_its_call_and_no_other() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(overrides_for_one_call()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), [3, 1, 6]);
    assert_eq!(bench.runs.of("always_fails"), 10);
}

#[skail_command]
async fn succeeds_at_the_third(#[state] runs: &Runs) -> anyhow::Result<u32> {
    let run = runs.count("succeeds_at_the_third");
    anyhow::ensure!(run == 3, "not yet");
    Ok(attempt().number)
}

#[skail_function(retry_count = 0)]
async fn sees_only_the_success() -> anyhow::Result<u32> {
    Ok(succeeds_at_the_third().await?)
}

#[tokio::test]
async fn a_function_sees_nothing_of_the_failures_before_a_success() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(sees_only_the_success()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 3);
    assert_eq!(bench.runs.of("succeeds_at_the_third"), 3);
}

#[skail_function(retry_count = 2)]
async fn fails_by_itself(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("fails_by_itself");
    anyhow::bail!("never today")
}

#[tokio::test]
async fn a_function_runs_once_more_than_its_retry_count_and_then_has_failed() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(fails_by_itself()).await.unwrap();
    let ExecutionError::Failed {
        attempts, failure, ..
    } = execution.result().await.unwrap_err()
    else {
        panic!("it must have failed");
    };
    assert_eq!((attempts, bench.runs.of("fails_by_itself")), (3, 3));
    assert_eq!(
        (failure.kind, &*failure.message),
        (FailureKind::Failed, "never today")
    );
    let header = execution.header().await.unwrap();
    assert_eq!(header.problem.as_deref(), Some("failed: never today"));
}

#[tokio::test]
async fn an_exhausted_command_never_runs_again_after_restarts_and_an_hour() {
    let mut bench = Bench::new();
    let mut skail = bench.engine().await;
    let id = ExecutionId::new("exhausted").unwrap();
    let execution = skail.start(never_catches()).id(&id).await.unwrap();
    execution.result().await.unwrap_err();
    let runs = bench.runs.of("always_fails");
    for _ in 0..2 {
        skail = bench.crash(skail).await;
        bench.clock.step(3_600_000);
        // An execution of its own comes to its end meanwhile: the engine had its chance.
        skail
            .start(tries_each())
            .await
            .unwrap()
            .result()
            .await
            .unwrap();
    }
    assert_eq!(bench.runs.of("always_fails"), runs);
    let execution = skail.execution::<()>(&id).await.unwrap();
    assert_eq!(execution.status().await.unwrap(), Status::Failed);
}
