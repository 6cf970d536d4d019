//! What is held by a breaker has not begun: not for the history, not for the count of its attempts, and
//! not for those who share its engine or its process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use skail_runtime::clock::{Clock as _, Timestamp};
use skail_runtime::history::Event;
use skail_runtime::prelude::*;
use skail_runtime::retry::{Breaker, CircuitState, Dependency};

use super::bench::{Bench, Runs};
use super::gateway::Gateway;
use super::support::{count, soon};

/// Opens at the first failure, and for long.
fn brittle() -> Dependency {
    let breaker = Breaker::new()
        .in_a_row(1)
        .probes(1)
        .cool_down(Duration::from_secs(600));
    Dependency::new().breaker(breaker)
}

fn is_start(event: &Event) -> bool {
    matches!(event, Event::CommandStarted { .. })
}

/// Waits until an execution shows that it waits for the breaker.
async fn held<T>(execution: &Execution<T>) {
    let held = async {
        while execution.header().await.unwrap().problem.is_none() {
            tokio::task::yield_now().await;
        }
    };
    soon("it to be held", held).await;
    let problem = execution.header().await.unwrap().problem;
    assert_eq!(
        problem.as_deref(),
        Some("waiting for brittle (breaker open)")
    );
}

/// Waits until the first attempt has failed, and lets its backoff pass; the clock stands still otherwise.
async fn fails_and_is_held<T>(bench: &Bench, execution: &Execution<T>) {
    let failed = |event: &Event| matches!(event, Event::CommandAttemptFailed { .. });
    let failure = async {
        while count(execution, failed).await == 0 {
            tokio::task::yield_now().await;
        }
    };
    soon("its first failure", failure).await;
    bench.clock.step(1_000);
    held(execution).await;
}

static MAY_LEAVE: AtomicBool = AtomicBool::new(false);

/// Lets the threads go when the test ends, however it ends.
struct LetGo;

impl Drop for LetGo {
    fn drop(&mut self) {
        MAY_LEAVE.store(true, Ordering::SeqCst);
    }
}

#[skail_command(blocking)]
fn keeps_its_thread(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("keeps_its_thread");
    while !MAY_LEAVE.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Takes all the places that blocking bodies have.
#[skail_function(retry_count = 0)]
async fn takes_all_threads() -> anyhow::Result<()> {
    let all = (0..256).map(|_| keeps_its_thread());
    futures::future::try_join_all(all).await?;
    Ok(())
}

#[skail_command(blocking, retry_count = 0, dependency = "brittle")]
fn prints_once(#[state] runs: &Runs) -> anyhow::Result<u32> {
    runs.count("prints_once");
    Ok(attempt().number)
}

#[skail_command]
async fn is_there(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("is_there");
    Ok(())
}

#[skail_function(retry_count = 0)]
async fn prints() -> anyhow::Result<u32> {
    let (printed, there) = tokio::join!(biased; prints_once(), is_there());
    there?;
    Ok(printed?)
}

#[skail_command(
    retry_count = 2,
    backoff(base = "1s", jitter = "none"),
    dependency = "brittle"
)]
async fn calls_the_brittle_one(#[state] gateway: &Gateway) -> anyhow::Result<u32> {
    gateway.call(Duration::ZERO).await?;
    Ok(attempt().number)
}

#[skail_function(retry_count = 0)]
async fn depends_on_it() -> anyhow::Result<u32> {
    Ok(calls_the_brittle_one().await?)
}

#[tokio::test]
async fn a_command_that_runs_at_most_once_is_not_lost_to_a_breaker_that_opens_while_it_queues() {
    let mut bench = Bench::new();
    bench.gateway.go_down(0, 60_000);
    let builder = bench.builder().dependency("brittle", brittle());
    let skail = builder.start().await.unwrap();
    let let_go = LetGo;
    let still = bench.clock.working();
    let threads = skail.start(takes_all_threads()).await.unwrap();
    bench.runs.reached("keeps_its_thread", 256).await;
    let id = ExecutionId::new("prints").unwrap();
    let prints = skail.start(prints()).id(&id).await.unwrap();
    // Asked for in one poll, and queued before the other one could begin: it has its leave.
    bench.runs.reached("is_there", 1).await;
    let breaks = skail.start(depends_on_it()).await.unwrap();
    fails_and_is_held(&bench, &breaks).await;
    drop(let_go);
    threads.result().await.unwrap();
    held(&prints).await;
    assert_eq!(count(&prints, is_start).await, 0);
    assert_eq!(bench.runs.of("prints_once"), 0);

    let skail = bench.crash(skail).await;
    drop(still);
    let prints = skail.execution::<u32>(&id).await.unwrap();
    assert_eq!(prints.result().await.unwrap(), 1);
    assert_eq!(count(&prints, is_start).await, 1);
    assert_eq!(bench.runs.of("prints_once"), 1);
}

#[tokio::test]
async fn a_process_that_dies_while_the_breaker_is_open_takes_no_attempt_and_no_wait_with_it() {
    let mut bench = Bench::new();
    bench.gateway.go_down(0, 60_000);
    let builder = bench.builder().dependency("brittle", brittle());
    let mut skail = builder.start().await.unwrap();
    let id = ExecutionId::new("needs").unwrap();
    let still = bench.clock.working();
    let mut needs = skail.start(depends_on_it()).id(&id).await.unwrap();
    fails_and_is_held(&bench, &needs).await;
    skail.kill().await;
    bench.store = bench.store.crash();
    let builder = bench.builder().dependency("brittle", brittle());
    skail = builder.start().await.unwrap();
    needs = skail.execution::<u32>(&id).await.unwrap();
    drop(still);
    assert_eq!(needs.result().await.unwrap(), 2);
    let calls = bench.gateway.calls();
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert!(calls[1].at >= 600_000, "it came back when it was told");
}

#[skail_command(retry_count = 1, dependency = "brittle")]
async fn panics_first(#[state] runs: &Runs) -> anyhow::Result<()> {
    assert!(runs.count("panics_first") > 2, "once more");
    Ok(())
}

#[skail_function(retry_count = 2, backoff(base = "1s", jitter = "none"))]
async fn survives_panics() -> anyhow::Result<()> {
    Ok(panics_first().await?)
}

#[tokio::test]
async fn a_probe_that_panics_gives_its_place_back_and_counts_as_failed() {
    let bench = Bench::new();
    let builder = bench.builder().dependency("brittle", brittle());
    let skail = builder.start().await.unwrap();
    let execution = skail.start(survives_panics()).await.unwrap();
    execution.result().await.unwrap();
    let status = skail.dependency("brittle").unwrap();
    assert_eq!(status.circuit, Some(CircuitState::Closed));
    let counts = status.counts;
    assert_eq!(
        (counts.opened, counts.half_opened, counts.closed),
        (2, 2, 1)
    );
    assert_eq!((counts.failed, counts.dropped), (2, 0));
}

#[tokio::test]
async fn two_engines_of_one_process_learn_of_an_outage_each_for_itself() {
    let bench = Bench::new();
    bench.gateway.go_down(0, 60_000);
    let engine = || bench.builder().dependency("brittle", brittle()).start();
    let one = engine().await.unwrap();
    let still = bench.clock.working();
    let needs = one.start(depends_on_it()).await.unwrap();
    fails_and_is_held(&bench, &needs).await;
    let other = Bench::new();
    let other = other.engine().await;
    let circuit = |skail: &Skail| skail.dependency("brittle").unwrap().circuit;
    assert_eq!(circuit(&one), Some(CircuitState::Open));
    assert_eq!(circuit(&other), Some(CircuitState::Closed));
    drop(still);
    needs.result().await.unwrap();
}

#[skail_command(retry_count = 1)]
async fn asks_for_ages() -> anyhow::Result<()> {
    let error = anyhow::anyhow!("come back when the sun has burnt out");
    Err(retry_after(error, Duration::MAX))
}

#[skail_function(retry_count = 0)]
async fn waits_for_ages() -> anyhow::Result<()> {
    let call = asks_for_ages().max_retry_after(Duration::MAX);
    Ok(call.await?)
}

#[tokio::test]
async fn a_wait_of_ages_is_a_wait_and_neither_a_panic_nor_over_at_once() {
    let bench = Bench::new();
    let still = bench.clock.working();
    let skail = bench.engine().await;
    let waits = skail.start(waits_for_ages()).await.unwrap();
    let failed = |event: &Event| matches!(event, Event::CommandAttemptFailed { retry_at, .. } if *retry_at == Timestamp::MAX);
    let recorded = async {
        while count(&waits, failed).await == 0 {
            tokio::task::yield_now().await;
        }
        while waits.header().await.unwrap().due != Some(Timestamp::MAX) {
            tokio::task::yield_now().await;
        }
    };
    soon("it to wait", recorded).await;
    skail.shutdown().await.unwrap();
    drop(still);
}
