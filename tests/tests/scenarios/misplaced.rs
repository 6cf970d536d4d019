//! A command is a step of a function; anywhere else its call is an error that says so, and runs nothing.

use std::sync::{Arc, Mutex};

use skail_runtime::prelude::*;
use skail_runtime::{Advice, ExecutionError, FailureKind, Position};

use super::support::{Bench, Runs};

#[skail_command]
async fn is_a_step(#[state] runs: &Runs, name: String) -> anyhow::Result<u32> {
    Ok(runs.count(&name))
}

#[tokio::test]
async fn a_command_awaited_outside_an_execution_is_an_error_and_does_not_run() {
    let bench = Bench::new();
    let _skail = bench.engine().await;
    let error = is_a_step("outside".to_owned()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.position(), error.attempts()),
        (FailureKind::Misplaced, None, 0)
    );
    assert_eq!(
        error.to_string(),
        "command `is_a_step` misplaced: `is_a_step` was awaited outside an execution; a command becomes \
         durable only as a step of a `#[skail_function]`. Call it there, or call `is_a_step::body(…)` for \
         a plain run that nothing records"
    );
    assert_eq!(bench.runs.of("outside"), 0);
}

#[tokio::test]
async fn the_body_of_a_command_can_be_run_plainly() {
    let runs = Runs::default();
    let result = is_a_step::body(&runs, "plain".to_owned()).await.unwrap();
    assert_eq!((result, runs.of("plain")), (1, 1));
}

#[skail_command(retry_count = 0)]
async fn calls_another_command(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("calls_another_command");
    is_a_step("inside".to_owned()).await?;
    Ok(())
}

#[skail_function(retry_count = 0)]
async fn has_a_nested_command() -> anyhow::Result<String> {
    Ok(calls_another_command()
        .await
        .unwrap_err()
        .message()
        .to_owned())
}

#[tokio::test]
async fn a_command_awaited_inside_another_is_an_error_there() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(has_a_nested_command()).await.unwrap();
    let message = execution.result().await.unwrap();
    assert!(
        message.contains("`is_a_step` was awaited inside another command"),
        "{message}"
    );
    assert_eq!(
        (
            bench.runs.of("calls_another_command"),
            bench.runs.of("inside")
        ),
        (1, 0)
    );
}

#[skail_command]
async fn passes_the_misplaced_one_on(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("passes_the_misplaced_one_on");
    is_a_step("inside".to_owned()).await?;
    Ok(())
}

#[skail_function]
async fn passes_it_on_too() -> anyhow::Result<()> {
    Ok(passes_the_misplaced_one_on().await?)
}

#[tokio::test]
async fn code_that_awaits_a_command_inside_another_is_tried_once_and_not_ninety_six_times() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(passes_it_on_too()).await.unwrap();
    let ExecutionError::Failed {
        attempts, failure, ..
    } = execution.result().await.unwrap_err()
    else {
        panic!("it must have failed");
    };
    assert_eq!((attempts, failure.advice), (1, Advice::Permanent));
    assert_eq!(bench.runs.of("passes_the_misplaced_one_on"), 1);
}

type Told = Arc<Mutex<Vec<String>>>;

static TOLD: Mutex<Option<Told>> = Mutex::new(None);

/// Moves a call into a task of its own, out of the attribute's sight.
#[allow(clippy::disallowed_methods)]
fn moves(call: CommandCall<u32>) {
    let told = TOLD.lock().unwrap().clone().unwrap();
    drop(tokio::spawn(async move {
        let error = call.await.unwrap_err();
        told.lock().unwrap().push(error.message().to_owned());
    }));
}

#[skail_function(retry_count = 0)]
async fn moves_calls_into_tasks() -> anyhow::Result<u32> {
    moves(is_a_step("moved".to_owned()));
    let mut begun = is_a_step("begun".to_owned());
    // It is a step by now, and the task that it moves to is not this function.
    let _ = futures::poll!(&mut begun);
    moves(begun);
    Ok(is_a_step("stayed".to_owned()).await?)
}

#[tokio::test]
async fn a_call_moved_to_a_task_of_its_own_is_an_error_there_and_the_function_goes_on() {
    let told = Told::default();
    *TOLD.lock().unwrap() = Some(Arc::clone(&told));
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(moves_calls_into_tasks()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 1);
    let both = async {
        while told.lock().unwrap().len() < 2 {
            tokio::task::yield_now().await;
        }
    };
    super::support::soon("both errors", both).await;
    for message in told.lock().unwrap().iter() {
        assert!(
            message.contains("`is_a_step` was awaited outside an execution"),
            "{message}"
        );
    }
    assert_eq!(bench.runs.of("moved"), 0);
}

#[skail_command(retry_count = 0)]
async fn tells_its_key() -> anyhow::Result<String> {
    Ok(idempotency_key())
}

type KeyAndPosition = (String, Option<Position>);

#[skail_function(retry_count = 0)]
async fn drops_calls_unpolled() -> anyhow::Result<KeyAndPosition> {
    for _ in 0..3 {
        drop(is_a_step("dropped".to_owned()));
    }
    let kept_for_later = is_a_step("later".to_owned());
    let key = tells_its_key().await?;
    kept_for_later.await?;
    let error = calls_another_command().await.unwrap_err();
    Ok((key, error.position()))
}

#[tokio::test]
async fn a_call_claims_its_position_when_it_is_first_polled_and_dropped_before_it_claims_none() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail
        .start(drops_calls_unpolled())
        .id("keys")
        .await
        .unwrap();
    let (key, position) = execution.result().await.unwrap();
    assert_eq!(
        (&*key, position),
        ("keys/0/tells_its_key", Some(Position(2)))
    );
    assert_eq!((bench.runs.of("dropped"), bench.runs.of("later")), (0, 1));
}
