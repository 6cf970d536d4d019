//! Bounding a step by a durable timer: the loser is aborted and never delivered.

use std::time::Duration;

use skail_runtime::clock::Clock as _;
use skail_runtime::history::Event;
use skail_runtime::prelude::*;
use skail_runtime::{FailureKind, Position};

use super::deploying::{blocked, redeployed};
use super::support::Line::{Bound, BoundGate, Charge, Gate};
use super::support::{Bench, Gates, Runs, count, recorded, soon};

const HOUR: Duration = Duration::from_secs(3_600);

fn set(event: &Event) -> bool {
    matches!(event, Event::TimerSet { .. })
}

fn elapsed(event: &Event) -> bool {
    matches!(event, Event::StepFailed { failure, .. } if failure.kind == FailureKind::TimedOut)
}

#[skail_command]
async fn takes_until_let(
    #[state] gates: &Gates,
    #[state] runs: &Runs,
    gate: String,
) -> anyhow::Result<String> {
    runs.count(&gate);
    gates.pass(&gate).await;
    Ok(gate)
}

#[skail_function]
async fn bounds_a_command(#[state] runs: &Runs) -> anyhow::Result<String> {
    runs.count("bounds");
    let answer = match timeout(HOUR, takes_until_let("slow".to_owned())).await {
        Ok(answer) => answer?,
        Err(elapsed) => {
            assert_eq!(
                (elapsed.kind(), elapsed.position()),
                (FailureKind::TimedOut, Some(Position(1)))
            );
            elapsed.to_string()
        }
    };
    takes_until_let("after".to_owned()).await?;
    Ok(answer)
}

#[tokio::test]
async fn what_ends_in_time_is_given_and_its_timer_never_ends() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    bench.gates.open("slow", 1);
    bench.gates.open("after", 1);
    let execution = skail.start(bounds_a_command()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), "slow");
    assert_eq!(
        (
            count(&execution, set).await,
            count(&execution, elapsed).await
        ),
        (1, 0)
    );
}

#[tokio::test]
async fn what_takes_longer_is_aborted_and_its_result_is_never_delivered() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("slow").unwrap();
    let execution = skail.start(bounds_a_command()).id(&id).await.unwrap();
    bench.gates.reached("slow", 1).await;
    bench.clock.step(3_600_000);
    bench.gates.left("slow", 0).await;
    bench.gates.reached("after", 1).await;
    assert_eq!(count(&execution, elapsed).await, 1);
    bench.gates.open("slow", 5);
    let skail = bench.crash(skail).await;
    bench.gates.open("after", 2);
    let execution = skail.execution::<String>(&id).await.unwrap();
    assert_eq!(
        execution.result().await.unwrap(),
        "step `timeout()` (position 1) timed out: it did not end within 3600s"
    );
    assert_eq!(bench.runs.of("slow"), 1, "the loser did not run again");
}

#[tokio::test]
async fn a_command_whose_time_passed_while_nobody_ran_is_not_run_any_more() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("late").unwrap();
    skail.start(bounds_a_command()).id(&id).await.unwrap();
    bench.gates.reached("slow", 1).await;
    skail.kill().await;
    bench.store = bench.store.crash();
    bench.clock.step(2 * 3_600_000);
    let skail = bench.engine().await;
    bench.gates.open("after", 1);
    let execution = skail.execution::<String>(&id).await.unwrap();
    assert!(execution.result().await.unwrap().contains("timed out"));
    assert_eq!(bench.runs.of("slow"), 1);
}

#[skail_function]
async fn bounds_waits(#[state] runs: &Runs) -> anyhow::Result<Vec<bool>> {
    runs.count("bounds waits");
    let mut ended = Vec::new();
    for (most, wait) in [(2, 1), (1, 2), (1, 1), (0, 1), (1, 0), (0, 0)] {
        ended.push(timeout(HOUR * most, sleep(HOUR * wait)).await.is_ok());
    }
    // A block of steps, and one bound in another.
    let block = timeout(HOUR * 3, async {
        sleep(HOUR).await?;
        let inner = timeout(HOUR, sleep(HOUR * 4)).await;
        anyhow::ensure!(inner.is_err(), "four hours are longer than one");
        sleep(HOUR * 2).await?;
        anyhow::Ok(())
    });
    ended.push(block.await.is_ok());
    let (one, other) = tokio::join!(
        timeout(HOUR, sleep(HOUR * 2)),
        timeout(HOUR * 2, sleep(HOUR))
    );
    ended.extend([one.is_ok(), other.is_ok()]);
    ended.push(timeout(Duration::ZERO, now()).await.is_ok());
    Ok(ended)
}

#[tokio::test]
async fn waits_and_blocks_of_steps_are_bounded_out_of_memory() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let start = bench.clock.now();
    let execution = skail.start(bounds_waits()).await.unwrap();
    let ended = [
        true, false, true, false, true, true, false, false, true, true,
    ];
    assert_eq!(execution.result().await.unwrap(), ended);
    assert_eq!(bench.clock.since(start), HOUR * (1 + 1 + 1 + 3 + 1));
    assert!(bench.runs.of("bounds waits") > 4, "it left memory");
}

#[skail_function(retry_count = 2, backoff(base = "1ms", jitter = "none"))]
async fn passes_it_on(#[state] runs: &Runs, built_on: bool) -> anyhow::Result<()> {
    runs.count("passes it on");
    if let Err(elapsed) = timeout(HOUR, sleep(HOUR * 24)).await {
        if built_on {
            now().await?;
        }
        return Err(elapsed.into());
    }
    Ok(())
}

#[tokio::test]
async fn a_function_that_passes_it_on_has_the_whole_time_again_unless_something_was_built_on_it() {
    for (built_on, waited) in [(false, 3), (true, 1)] {
        let bench = Bench::new();
        let skail = bench.engine().await;
        let start = bench.clock.now();
        let execution = skail.start(passes_it_on(built_on)).await.unwrap();
        let error = execution.result().await.unwrap_err().to_string();
        assert!(
            error.contains("failed after 3 attempts") && error.contains("did not end within"),
            "{error}"
        );
        assert_eq!(bench.clock.since(start).as_secs() / 3_600, waited);
        assert_eq!(count(&execution, elapsed).await as u64, waited);
    }
}

#[skail_command]
async fn never_comes() -> anyhow::Result<()> {
    std::future::pending().await
}

#[tokio::test]
async fn outside_of_a_function_it_is_an_error_that_says_so() {
    let error = timeout(HOUR, std::future::pending::<()>())
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.position()),
        (FailureKind::Misplaced, None)
    );
    assert!(
        error
            .message()
            .starts_with("`timeout()` was awaited outside an execution"),
        "{error}"
    );
    let error = timeout(HOUR, never_comes()).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), FailureKind::Misplaced);
}

#[tokio::test]
async fn a_bound_that_was_added_or_removed_blocks() {
    for bound_before in [true, false] {
        let mut bench = Bench::new();
        let bound = [Bound(HOUR, "a"), Charge("b"), Gate("old")];
        let bare = [Charge("a"), Charge("b"), Gate("old")];
        let (old, new) = if bound_before {
            (&bound, &bare)
        } else {
            (&bare, &bound)
        };
        let (_skail, execution) = redeployed(&mut bench, old, new).await;
        let message = blocked(&execution).await;
        let says = if bound_before {
            "the history holds timer `timeout`, and the code asked for command `charge`"
        } else {
            "the history holds command `charge` with arguments [\"b\"], and the code asked for timer \
             `timeout`"
        };
        assert!(message.contains(says), "{message}");
    }
}

#[tokio::test]
async fn a_bound_of_another_length_goes_on_with_the_time_that_was_recorded() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("shorter").unwrap();
    bench.code.deploy(&[BoundGate(HOUR, "bound")]);
    let execution = skail
        .start(super::deploying::deployed())
        .id(&id)
        .await
        .unwrap();
    recorded(&execution, set).await;
    bench.gates.reached("bound", 1).await;
    bench.code.deploy(&[BoundGate(HOUR * 9, "bound")]);
    let skail = bench.crash(skail).await;
    bench.gates.reached("bound", 2).await;
    bench.clock.step(3_600_000);
    let execution = skail.execution::<Vec<String>>(&id).await.unwrap();
    let results = soon("the end", execution.result()).await.unwrap();
    assert_eq!(results, ["elapsed"]);
}
