//! An operator resumes what has failed: with fresh counts, durably, and never what runs or is done.

use skail_runtime::ExecutionError;
use skail_runtime::history::{Event, Status};
use skail_runtime::prelude::*;
use skail_runtime::store::{Message, Store as _};

use super::support::{Bench, Gates, Runs, count};

#[skail_command]
async fn is_done_once(#[state] runs: &Runs) -> anyhow::Result<u32> {
    Ok(runs.count("is_done_once"))
}

#[skail_command(retry_count = 1)]
async fn is_down(#[state] runs: &Runs, #[state] gates: &Gates) -> anyhow::Result<()> {
    let run = runs.count("is_down");
    anyhow::ensure!(run > 4, "down at run {run}");
    gates.pass("up").await;
    Ok(())
}

#[skail_function(retry_count = 1)]
async fn needs_what_is_down(#[state] runs: &Runs) -> anyhow::Result<u32> {
    runs.count("needs_what_is_down");
    let done = is_done_once().await?;
    is_down().await?;
    Ok(done)
}

/// An execution that has failed, its engine, and its id.
async fn failed(bench: &Bench) -> (Skail, Execution<u32>) {
    let skail = bench.engine().await;
    let execution = skail.start(needs_what_is_down()).id("down").await.unwrap();
    let error = execution.result().await.unwrap_err();
    assert!(
        matches!(error, ExecutionError::Failed { attempts: 2, .. }),
        "{error}"
    );
    assert_eq!(bench.runs.of("is_down"), 2 * 2);
    (skail, execution)
}

#[tokio::test]
async fn a_resume_gives_fresh_attempts_and_runs_no_finished_step_again() {
    let bench = Bench::new();
    let (_skail, execution) = failed(&bench).await;
    bench.gates.open("up", 1);
    execution.resume().await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 1);
    assert_eq!(
        (bench.runs.of("is_down"), bench.runs.of("is_done_once")),
        (5, 1)
    );
    assert_eq!(
        count(&execution, |event| matches!(event, Event::Resumed { .. })).await,
        1
    );
    let header = execution.header().await.unwrap();
    assert_eq!((header.status, header.problem), (Status::Completed, None));
}

#[skail_function(retry_count = 1)]
async fn fails_whatever_happens(#[state] runs: &Runs) -> anyhow::Result<()> {
    anyhow::bail!("run {}", runs.count("fails_whatever_happens"))
}

#[tokio::test]
async fn a_function_that_fails_again_after_a_resume_has_failed_again_and_can_be_resumed_again() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(fails_whatever_happens()).await.unwrap();
    for round in 1..=3 {
        let error = execution.result().await.unwrap_err();
        let ExecutionError::Failed {
            attempts, failure, ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!(attempts, 2, "counted afresh");
        assert_eq!(failure.message, format!("run {}", round * 2));
        execution.resume().await.unwrap();
    }
}

#[tokio::test]
async fn a_resume_that_was_acknowledged_survives_a_crash() {
    let mut bench = Bench::new();
    let (skail, execution) = failed(&bench).await;
    skail.kill().await;
    // Nobody works any more; the store still takes it.
    execution.resume().await.unwrap();
    bench.gates.open("up", 1);

    let skail = bench.crash(skail).await;
    let execution = skail.execution::<u32>(execution.id()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 1);
}

#[tokio::test]
async fn what_runs_or_is_done_cannot_be_resumed() {
    let bench = Bench::new();
    let (skail, execution) = failed(&bench).await;
    execution.resume().await.unwrap();
    bench.gates.reached("up", 1).await;
    let error = execution.resume().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "execution `down` is running; only a failed or blocked execution can be resumed"
    );
    bench.gates.open("up", 1);
    execution.result().await.unwrap();
    let error = execution.resume().await.unwrap_err();
    let status = Status::Completed;
    assert!(matches!(error, ExecutionError::NotResumable { status: is, .. } if is == status));
    let id = ExecutionId::new("nobody").unwrap();
    let error = skail.execution::<()>(&id).await.unwrap_err();
    assert!(matches!(error, ExecutionError::Unknown { .. }), "{error}");
    // A text will do for an id, and one that can be none says why.
    let error = skail.execution::<()>("nobody-made-it").await.unwrap_err();
    assert!(error.to_string().contains("`nobody-made-it`"), "{error}");
    let error = skail.execution::<()>("two\nlines").await.unwrap_err();
    assert!(matches!(error, ExecutionError::Id(_)), "{error}");
}

#[skail_function(retry_count = 0)]
async fn fails_when_let() -> anyhow::Result<()> {
    passes_when_let().await?;
    anyhow::bail!("let go")
}

#[skail_command(retry_count = 0)]
async fn passes_when_let(#[state] gates: &Gates) -> anyhow::Result<()> {
    gates.pass("let").await;
    Ok(())
}

#[tokio::test]
async fn a_resume_that_came_while_it_ran_does_not_resume_a_later_failure() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(fails_when_let()).await.unwrap();
    bench.gates.reached("let", 1).await;
    // Two operators at once: the second message arrives when the first has been taken in.
    let resume = Message::Resume {
        accept_changed_arguments: None,
    };
    let now = skail_runtime::clock::Clock::now(&bench.clock);
    bench.store.send(execution.id(), resume, now).await.unwrap();
    bench.gates.open("let", 1);
    execution.result().await.unwrap_err();
    // Another one comes to its end: the engine had its chance to resume the first.
    let other = skail.start(fails_whatever_happens()).await.unwrap();
    other.result().await.unwrap_err();
    assert_eq!(
        count(&execution, |event| matches!(event, Event::Resumed { .. })).await,
        0
    );
    assert_eq!(execution.status().await.unwrap(), Status::Failed);
    assert_eq!(execution.header().await.unwrap().due, None);
}
