//! A function that awaits what Skail does not record is told so at once, by name and position.

use std::future::Future;
use std::time::Duration;

use futures::FutureExt as _;
use skail_runtime::ExecutionError;
use skail_runtime::history::Event;
use skail_runtime::prelude::*;
use tokio::sync::oneshot;

use super::support::{Bench, Gates, Runs, count, soon};

/// What a helper awaits, out of the attribute's sight.
#[allow(clippy::disallowed_methods)]
async fn awaits(what: &str) {
    match what {
        "a timer" => tokio::time::sleep(Duration::from_secs(3_600)).await,
        "a channel" => {
            let (sender, mut receiver) = oneshot::channel::<()>();
            let mut sender = Some(sender);
            let received = std::future::poll_fn(|cx| {
                let polled = receiver.poll_unpin(cx);
                // Only when it is waited for does the other thread begin.
                if let Some(sender) = sender.take() {
                    std::thread::spawn(move || sender.send(()));
                }
                polled
            });
            let _ = received.await;
        }
        "a task" => {
            let _ = tokio::spawn(async { tokio::task::yield_now().await }).await;
        }
        "its turn" => tokio::task::yield_now().await,
        _ => std::future::pending().await,
    }
}

const THINGS: [&str; 5] = ["a timer", "a channel", "a task", "its turn", "nothing ever"];

#[skail_command]
async fn counts_a_step(#[state] runs: &Runs, name: String) -> anyhow::Result<u32> {
    Ok(runs.count(&name))
}

#[skail_command]
async fn waits_at_a_gate(#[state] gates: &Gates, name: String) -> anyhow::Result<()> {
    gates.pass(&name).await;
    Ok(())
}

#[skail_function]
async fn awaits_at_first(what: String) -> anyhow::Result<()> {
    awaits(&what).await;
    Ok(())
}

#[skail_function]
async fn awaits_after_two_steps(what: String) -> anyhow::Result<()> {
    counts_a_step(what.clone()).await?;
    counts_a_step(what.clone()).await?;
    awaits(&what).await;
    Ok(())
}

async fn blocked<T: serde::de::DeserializeOwned>(what: &str, execution: &Execution<T>) -> String {
    match soon(what, execution.result())
        .await
        .map(drop)
        .expect_err(what)
    {
        ExecutionError::Blocked { message, .. } => message,
        error => panic!("{what}: {error}"),
    }
}

#[tokio::test]
async fn whatever_is_awaited_before_the_first_step_blocks_with_the_functions_name() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    for what in THINGS {
        let execution = skail.start(awaits_at_first(what.to_owned())).await.unwrap();
        let message = blocked(what, &execution).await;
        assert!(
            message.starts_with("`awaits_at_first` (tests/tests/scenarios/unrecorded.rs:")
                && message
                    .contains("awaits something that Skail does not record, before its first step"),
            "{what}: {message}"
        );
    }
}

#[tokio::test]
async fn whatever_is_awaited_later_blocks_with_the_position_and_burns_no_attempt() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    for what in THINGS {
        let execution = skail
            .start(awaits_after_two_steps(what.to_owned()))
            .await
            .unwrap();
        let message = blocked(what, &execution).await;
        let place = "after it asked for the step at position 1";
        assert!(message.contains(place), "{what}: {message}");
        let burnt = |event: &Event| matches!(event, Event::FunctionAttemptFailed { .. });
        assert_eq!(count(&execution, burnt).await, 0);

        // Resumed without another code it comes to the same, and runs no step again.
        execution.resume().await.unwrap();
        blocked(what, &execution).await;
        assert_eq!(bench.runs.of(what), 2, "{what}");
    }
}

#[skail_function]
async fn awaits_beside_a_step(what: String) -> anyhow::Result<()> {
    let (step, ()) = futures::join!(waits_at_a_gate("never opened".to_owned()), awaits(&what));
    step?;
    Ok(())
}

#[tokio::test]
async fn what_wakes_the_function_beside_a_waiting_step_blocks_without_waiting_for_the_step() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    for what in ["a channel", "a task", "its turn"] {
        let execution = skail
            .start(awaits_beside_a_step(what.to_owned()))
            .await
            .unwrap();
        let message = blocked(what, &execution).await;
        assert!(
            message.contains("`awaits_beside_a_step`"),
            "{what}: {message}"
        );
    }
}

#[skail_function]
async fn awaits_what_a_command_sends(#[state] gates: &Gates) -> anyhow::Result<()> {
    let (step, ()) = futures::join!(opens_a_gate(), gates.pass("opened by a command"));
    step?;
    Ok(())
}

#[skail_command]
async fn opens_a_gate(#[state] gates: &Gates) -> anyhow::Result<()> {
    gates.open("opened by a command", 1);
    Ok(())
}

#[tokio::test]
async fn a_message_that_a_command_sends_past_the_history_blocks() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(awaits_what_a_command_sends()).await.unwrap();
    let message = blocked("a message past the history", &execution).await;
    assert!(
        message.contains("`awaits_what_a_command_sends`"),
        "{message}"
    );
}

/// Wakes itself for ever and is never ready.
struct Spins;

impl Future for Spins {
    type Output = ();

    fn poll(
        self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<()> {
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    }
}

#[skail_function]
async fn spins_for_ever() -> anyhow::Result<()> {
    Spins.await;
    Ok(())
}

#[tokio::test]
async fn a_function_that_wakes_itself_for_ever_blocks_and_lets_others_work() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let spinning = skail.start(spins_for_ever()).await.unwrap();
    let message = blocked("the one that spins", &spinning).await;
    assert!(
        message.contains("`spins_for_ever`") && message.contains("it spins"),
        "{message}"
    );
}

/// Fails, then awaits nothing that ever comes, then fails for good.
#[skail_function(retry_count = 2)]
async fn blocks_between_failures(#[state] runs: &Runs) -> anyhow::Result<()> {
    let run = runs.count("blocks_between_failures");
    if run == 2 {
        awaits("nothing ever").await;
    }
    anyhow::bail!("run {run}")
}

#[tokio::test]
async fn a_block_neither_costs_an_attempt_of_the_function_nor_gives_one() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(blocks_between_failures()).await.unwrap();
    blocked("the second attempt", &execution).await;
    execution.resume().await.unwrap();
    let error = execution.result().await.unwrap_err();
    assert!(
        matches!(error, ExecutionError::Failed { attempts: 3, .. }),
        "{error}"
    );
    assert_eq!(bench.runs.of("blocks_between_failures"), 1 + 1 + 2);
}
