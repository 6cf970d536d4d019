//! A function is redelivered: which failures of its commands are forgotten, and which stand.

use skail_runtime::history::Event;
use skail_runtime::prelude::*;
use skail_runtime::{ExecutionError, Position};

use super::support::{Bench, Runs};

/// The positions that each failed attempt of the function dropped.
async fn dropped<T>(execution: &Execution<T>) -> Vec<Vec<u32>> {
    let history = execution.history().await.unwrap();
    let dropped = history.into_iter().filter_map(|event| match event {
        Event::FunctionAttemptFailed { dropped, .. } => Some(dropped),
        _ => None,
    });
    dropped
        .map(|positions| positions.into_iter().map(|Position(n)| n).collect())
        .collect()
}

#[skail_command(retry_count = 1, backoff(jitter = "none"))]
async fn breaks(#[state] runs: &Runs, name: String) -> anyhow::Result<()> {
    runs.count(&name);
    anyhow::bail!("{name} broke")
}

#[skail_command]
async fn mends(#[state] runs: &Runs, name: String) -> anyhow::Result<u32> {
    Ok(runs.count(&name))
}

#[skail_command(retry_count = 1, backoff(jitter = "none"))]
async fn breaks_until(#[state] runs: &Runs, name: String, run: u32) -> anyhow::Result<u32> {
    let this = runs.count(&name);
    anyhow::ensure!(this >= run, "{name} broke");
    Ok(this)
}

#[skail_function(retry_count = 2)]
async fn lets_a_failure_out() -> anyhow::Result<u32> {
    mends("before".to_owned()).await?;
    Ok(breaks_until("shaky".to_owned(), 5).await?)
}

#[tokio::test]
async fn a_failure_that_nothing_followed_is_forgotten_and_gets_all_its_attempts_again() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(lets_a_failure_out()).await.unwrap();
    assert_eq!(
        execution.result().await.unwrap(),
        5,
        "in the third round of two"
    );
    assert_eq!(bench.runs.of("before"), 1, "a result is never forgotten");
    assert_eq!(dropped(&execution).await, [[1], [1]]);
}

#[skail_function(retry_count = 2)]
async fn compensates_and_fails() -> anyhow::Result<()> {
    let error = breaks("charge".to_owned()).await.unwrap_err();
    mends("refund".to_owned()).await?;
    Err(error.into())
}

#[tokio::test]
async fn a_failure_that_a_compensation_followed_stands_and_the_same_way_is_taken_again() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(compensates_and_fails()).await.unwrap();
    let error = execution.result().await.unwrap_err();
    assert!(
        matches!(error, ExecutionError::Failed { attempts: 3, .. }),
        "{error}"
    );
    assert_eq!((bench.runs.of("charge"), bench.runs.of("refund")), (2, 1));
    let nothing: [[u32; 0]; 3] = [[], [], []];
    assert_eq!(dropped(&execution).await, nothing);
}

#[skail_function(retry_count = 1)]
async fn swallows_a_failure_and_fails_of_itself() -> anyhow::Result<()> {
    mends("first".to_owned()).await?;
    let _ = breaks("swallowed".to_owned()).await;
    anyhow::bail!("of itself")
}

#[tokio::test]
async fn a_failure_that_was_caught_but_built_nothing_is_forgotten() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail
        .start(swallows_a_failure_and_fails_of_itself())
        .await
        .unwrap();
    execution.result().await.unwrap_err();
    assert_eq!(bench.runs.of("swallowed"), 2 * 2);
    assert_eq!(dropped(&execution).await, [[1], [1]]);
}

#[skail_function(retry_count = 1)]
async fn joins_two_that_break_together() -> anyhow::Result<()> {
    futures::try_join!(breaks("left".to_owned()), breaks("right".to_owned()))?;
    Ok(())
}

#[tokio::test]
async fn failures_of_one_moment_are_all_forgotten_though_the_function_saw_only_the_first() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(joins_two_that_break_together()).await.unwrap();
    execution.result().await.unwrap_err();
    let all = dropped(&execution).await.concat();
    let runs = (bench.runs.of("left"), bench.runs.of("right"));
    assert_eq!(
        all.len(),
        4,
        "both, in both attempts: {all:?}, runs {runs:?}"
    );
    assert_eq!(runs, (2 * 2, 2 * 2));
}

#[skail_function(retry_count = 1)]
async fn races_two_that_break_together() -> anyhow::Result<()> {
    let both = futures::future::select(breaks("fast".to_owned()), breaks("slow".to_owned()));
    let slow_is_gone = async {
        let (first, _) = both.await.factor_first();
        first.is_err()
    };
    let (_, unrelated) = futures::join!(slow_is_gone, mends("unrelated".to_owned()));
    unrelated?;
    anyhow::bail!("of itself")
}

#[tokio::test]
async fn the_failure_of_a_call_that_had_lost_its_race_is_forgotten_too() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(races_two_that_break_together()).await.unwrap();
    execution.result().await.unwrap_err();
    for dropped in dropped(&execution).await {
        assert!(dropped.contains(&0) || dropped.contains(&1));
    }
    assert_eq!((bench.runs.of("fast"), bench.runs.of("slow")), (4, 4));
}

#[skail_function(retry_count = 1)]
async fn builds_on_one_and_lets_another_out() -> anyhow::Result<()> {
    let handled = async {
        let _ = breaks("handled".to_owned()).retry_count(1).await;
        mends("handled, mended".to_owned()).await
    };
    let unhandled = async { breaks_until("unhandled".to_owned(), 9).retry_count(3).await };
    futures::try_join!(handled, unhandled)?;
    Ok(())
}

#[tokio::test]
async fn of_two_failures_only_the_one_that_nothing_followed_is_forgotten() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail
        .start(builds_on_one_and_lets_another_out())
        .await
        .unwrap();
    execution.result().await.unwrap_err();
    assert_eq!(dropped(&execution).await, [[1], [1]]);
    assert_eq!(bench.runs.of("handled"), 2);
    assert_eq!(bench.runs.of("handled, mended"), 1);
    assert_eq!(bench.runs.of("unhandled"), 2 * 4);
}
