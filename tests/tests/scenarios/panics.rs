//! A panic is a failed attempt with its text, wherever it comes from, and takes nothing else down.

use skail_runtime::prelude::*;
use skail_runtime::{ExecutionError, FailureKind};

use super::support::{Bench, Runs};

#[skail_command(retry_count = 2)]
async fn panics_in_its_body(#[state] runs: &Runs, how: u8) -> anyhow::Result<()> {
    runs.count(&format!("panics {how}"));
    match how {
        0 => panic!("plain words"),
        1 => panic!("words with a number: {how}"),
        2 => std::panic::panic_any(how),
        3 => drop(PanicsWhenDropped),
        4 => {
            let kept = PanicsWhenDropped;
            tokio::task::yield_now().await;
            drop(kept);
        }
        _ => std::panic::panic_any(PanicsWhenDropped),
    }
    Ok(())
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("in a destructor");
        }
    }
}

#[skail_function(retry_count = 0)]
async fn sees_the_panic(how: u8) -> anyhow::Result<(FailureKind, u32, String)> {
    let error = panics_in_its_body(how).await.unwrap_err();
    Ok((error.kind(), error.attempts(), error.message().to_owned()))
}

#[tokio::test]
async fn every_way_to_panic_is_a_failed_attempt_with_its_text() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let texts = [
        "plain words",
        "words with a number: 1",
        "a panic without a text",
        "in a destructor",
        "in a destructor",
        "a panic without a text",
    ];
    for (how, text) in (0..).zip(texts) {
        let execution = skail.start(sees_the_panic(how)).await.unwrap();
        let seen = super::support::soon(text, execution.result())
            .await
            .unwrap();
        assert_eq!(seen, (FailureKind::Panicked, 3, text.to_owned()));
        assert_eq!(bench.runs.of(&format!("panics {how}")), 3);
    }
}

#[skail_command(retry_count = 0)]
async fn has_a_task_that_panics() -> anyhow::Result<bool> {
    let task = std::thread::spawn(|| panic!("on a thread of its own"));
    Ok(task.join().is_err())
}

#[skail_command(retry_count = 1, blocking)]
fn panics_off_the_async_threads(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("panics_off_the_async_threads");
    panic!("blocked and broke")
}

#[skail_function(retry_count = 0)]
async fn outlives_both() -> anyhow::Result<(bool, String)> {
    let noticed = has_a_task_that_panics().await?;
    let error = panics_off_the_async_threads().await.unwrap_err();
    Ok((noticed, error.to_string()))
}

#[tokio::test]
async fn the_worker_outlives_panics_of_threads_and_of_blocking_commands() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(outlives_both()).await.unwrap();
    let (noticed, error) = execution.result().await.unwrap();
    assert!(noticed);
    assert_eq!(
        error,
        "command `panics_off_the_async_threads` (position 1) panicked after 2 attempts: blocked and broke"
    );
    assert_eq!(bench.runs.of("panics_off_the_async_threads"), 2);
}

#[skail_command]
async fn works_before_the_panic(#[state] runs: &Runs) -> anyhow::Result<u32> {
    Ok(runs.count("works_before_the_panic"))
}

#[skail_function(retry_count = 2)]
async fn panics_until_its_third_attempt(#[state] runs: &Runs) -> anyhow::Result<u32> {
    let result = works_before_the_panic().await?;
    assert!(
        runs.count("panics_until_its_third_attempt") == 3,
        "not ready"
    );
    Ok(result)
}

#[skail_function(retry_count = 1)]
async fn panics_for_ever() -> anyhow::Result<()> {
    let _broken = PanicsWhenDropped;
    Ok(())
}

#[tokio::test]
async fn a_function_that_panics_is_redelivered_and_its_steps_do_not_run_again() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(panics_until_its_third_attempt()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 1);
    assert_eq!(bench.runs.of("works_before_the_panic"), 1);

    let execution = skail.start(panics_for_ever()).await.unwrap();
    let ExecutionError::Failed {
        attempts, failure, ..
    } = execution.result().await.unwrap_err()
    else {
        panic!("it must have failed");
    };
    assert_eq!((attempts, failure.kind), (2, FailureKind::Panicked));
    assert_eq!(failure.message, "in a destructor");
}
