//! An attempt that takes longer than its timeout has failed, and its body is gone.

use std::time::Duration;

use skail_runtime::FailureKind;
use skail_runtime::clock::Clock as _;
use skail_runtime::prelude::*;

use super::support::{Bench, Gates, Runs, soon};

struct Gone(Runs);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.count("gone");
    }
}

#[skail_command(retry_count = 2, timeout = "10s", backoff(jitter = "none"))]
async fn never_ends(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("never_ends");
    let _gone = Gone(runs.clone());
    std::future::pending().await
}

#[skail_function(retry_count = 0)]
async fn waits_for_what_never_ends() -> anyhow::Result<(FailureKind, u32, String)> {
    let error = never_ends().await.unwrap_err();
    Ok((error.kind(), error.attempts(), error.message().to_owned()))
}

#[tokio::test]
async fn an_attempt_that_passes_its_timeout_is_a_failed_one() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let start = bench.clock.now();
    let execution = skail.start(waits_for_what_never_ends()).await.unwrap();
    let (kind, attempts, message) = execution.result().await.unwrap();
    assert_eq!((kind, attempts), (FailureKind::TimedOut, 3));
    assert_eq!(message, "the attempt took longer than its timeout of 10s");
    assert_eq!((bench.runs.of("never_ends"), bench.runs.of("gone")), (3, 3));
    // Three attempts of 10 s, and the two waits between them.
    let seconds = 3.0 * 10.0 + 0.5 + 1.0;
    assert_eq!(bench.clock.since(start), Duration::from_secs_f64(seconds));
}

#[skail_function(retry_count = 0)]
async fn waits_shorter_for_this_call() -> anyhow::Result<u32> {
    let call = never_ends()
        .timeout(Duration::from_millis(7))
        .retry_count(0);
    Ok(call.await.unwrap_err().attempts())
}

#[tokio::test]
async fn a_timeout_can_be_set_for_one_call() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let start = bench.clock.now();
    let execution = skail.start(waits_shorter_for_this_call()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 1);
    assert_eq!(bench.clock.since(start), Duration::from_millis(7));
}

#[skail_command(retry_count = 0)]
async fn holds_the_only_place(#[state] gates: &Gates) -> anyhow::Result<()> {
    gates.pass("the only place").await;
    Ok(())
}

#[skail_command(retry_count = 0, timeout = "1s")]
async fn has_a_second(#[state] runs: &Runs) -> anyhow::Result<u32> {
    Ok(runs.count("has_a_second"))
}

#[skail_function(retry_count = 0)]
async fn queues_behind_another() -> anyhow::Result<u32> {
    let (first, second) = futures::join!(holds_the_only_place(), has_a_second());
    first?;
    Ok(second?)
}

#[tokio::test]
async fn waiting_for_a_turn_does_not_count_against_the_timeout() {
    let bench = Bench::new();
    let skail = bench
        .builder()
        .max_running_commands(1)
        .start()
        .await
        .unwrap();
    let execution = skail.start(queues_behind_another()).await.unwrap();
    bench.gates.reached("the only place", 1).await;
    bench.clock.step(3_600_000);
    bench.gates.open("the only place", 1);
    assert_eq!(execution.result().await.unwrap(), 1);
}

#[skail_function(retry_count = 0)]
async fn waits_for_two_that_never_end() -> anyhow::Result<[u32; 2]> {
    let (one, other) = futures::join!(never_ends().retry_count(0), never_ends().retry_count(0));
    Ok([one, other].map(|ended| ended.unwrap_err().attempts()))
}

#[tokio::test]
async fn each_in_the_queue_has_its_whole_timeout() {
    let bench = Bench::new();
    let builder = bench.builder().max_running_commands(1);
    let skail = builder.start().await.unwrap();
    let start = bench.clock.now();
    let execution = skail.start(waits_for_two_that_never_end()).await.unwrap();
    let result = soon("both timeouts", execution.result()).await;
    assert_eq!(result.unwrap(), [1, 1]);
    assert_eq!(bench.clock.since(start), Duration::from_secs(20));
}
