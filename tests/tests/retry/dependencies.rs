//! Commands that name a dependency share its breaker and its budget; waiting for either costs nothing.

use std::time::Duration;

use skail_runtime::BuildError;
use skail_runtime::clock::Clock as _;
use skail_runtime::history::{Event, Status};
use skail_runtime::prelude::*;
use skail_runtime::retry::{Breaker, Budget, CircuitState, Dependency};

use super::bench::{Bench, Runs};
use super::gateway::Gateway;
use super::support::{Gates, count, soon};

/// Opens at the second failure in a row, and for long.
fn brittle() -> Dependency {
    let breaker = Breaker::new()
        .in_a_row(2)
        .probes(1)
        .cool_down(Duration::from_secs(600));
    Dependency::new().breaker(breaker)
}

#[skail_command(
    retry_count = 1,
    backoff(base = "1s", jitter = "none"),
    dependency = "shared"
)]
async fn fails_at_it(#[state] gateway: &Gateway) -> anyhow::Result<()> {
    gateway.call(Duration::ZERO).await
}

#[skail_command(retry_count = 0, dependency = "shared")]
async fn calls_it_at_most_once(#[state] gateway: &Gateway) -> anyhow::Result<u32> {
    gateway.call(Duration::ZERO).await?;
    Ok(attempt().number)
}

#[skail_function(retry_count = 0)]
async fn brings_it_down() -> anyhow::Result<u32> {
    Ok(fails_at_it().await.unwrap_err().attempts())
}

#[skail_function(retry_count = 0)]
async fn needs_it() -> anyhow::Result<u32> {
    Ok(calls_it_at_most_once().await?)
}

#[tokio::test]
async fn an_open_breaker_holds_another_command_of_the_dependency_which_leaves_memory() {
    let mut bench = Bench::new();
    bench.gateway.go_down(0, 60_000);
    let builder = bench.builder().dependency("shared", brittle());
    let skail = builder.start().await.unwrap();
    let down = skail.start(brings_it_down()).await.unwrap();
    assert_eq!(down.result().await.unwrap(), 2);
    let status = skail.dependency("shared").unwrap();
    assert_eq!(status.circuit, Some(CircuitState::Open));

    let still = bench.clock.working();
    let id = ExecutionId::new("held").unwrap();
    let held = skail.start(needs_it()).id(&id).await.unwrap();
    let parked = async {
        while held.header().await.unwrap().problem.is_none() {
            tokio::task::yield_now().await;
        }
    };
    soon("it to leave memory", parked).await;
    let header = held.header().await.unwrap();
    let problem = header.problem.as_deref();
    assert_eq!(problem, Some("waiting for shared (breaker open)"));
    assert_eq!(header.status, Status::Running);
    let wait = header.due.unwrap().saturating_since(bench.clock.now());
    let (least, most) = (Duration::from_secs(590), Duration::from_secs(720));
    assert!((least..=most).contains(&wait), "{wait:?}");
    let status = skail.dependency("shared").unwrap();
    assert_eq!(status.waiting_for_breaker, 0, "it is not in memory");
    assert_eq!(status.counts.held_by_breaker, 1);

    // Held, it had not begun: not even a command that runs at most once is lost with the process.
    let skail = bench.crash(skail).await;
    drop(still);
    let held = skail.execution::<u32>(&id).await.unwrap();
    assert_eq!(held.result().await.unwrap(), 1);
    let started = |event: &Event| matches!(event, Event::CommandStarted { .. });
    assert_eq!(count(&held, started).await, 1);
}

#[tokio::test]
async fn it_comes_back_at_the_time_it_was_told_and_closes_the_breaker() {
    let bench = Bench::new();
    bench.gateway.go_down(0, 60_000);
    let builder = bench.builder().dependency("shared", brittle());
    let skail = builder.start().await.unwrap();
    let down = skail.start(brings_it_down()).await.unwrap();
    down.result().await.unwrap();
    let opened = bench.gateway.now();
    let held = skail.start(needs_it()).await.unwrap();
    assert_eq!(held.result().await.unwrap(), 1);
    let waited = bench.gateway.now() - opened;
    assert!((600_000..=720_000).contains(&waited), "{waited} ms");
    let status = skail.dependency("shared").unwrap();
    assert_eq!(status.circuit, Some(CircuitState::Closed));
    let counts = status.counts;
    assert_eq!(
        (counts.opened, counts.half_opened, counts.closed),
        (1, 1, 1)
    );
    assert_eq!((counts.first_attempts, counts.retries), (2, 1));
    assert_eq!((counts.succeeded, counts.failed), (1, 2));
}

#[skail_command(retry_count = 1, dependency = "shared")]
async fn is_refused_for_good(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("is_refused_for_good");
    Err(permanent(anyhow::anyhow!("no such card")))
}

#[skail_function(retry_count = 0)]
async fn is_refused_often() -> anyhow::Result<()> {
    for _ in 0..30 {
        is_refused_for_good().await.unwrap_err();
    }
    Ok(())
}

#[tokio::test]
async fn a_refusal_for_good_is_an_answer_and_opens_nothing() {
    let bench = Bench::new();
    let builder = bench.builder().dependency("shared", brittle());
    let skail = builder.start().await.unwrap();
    let execution = skail.start(is_refused_often()).await.unwrap();
    execution.result().await.unwrap();
    let status = skail.dependency("shared").unwrap();
    assert_eq!(status.circuit, Some(CircuitState::Closed));
    assert_eq!((status.counts.succeeded, status.counts.failed), (30, 0));
}

#[skail_command(retry_count = 0, dependency = "slow")]
async fn waits_at_the_gate(#[state] gates: &Gates, who: String) -> anyhow::Result<()> {
    gates.pass(&who).await;
    anyhow::ensure!(who.starts_with("good"), "bad");
    Ok(())
}

#[skail_function(retry_count = 0)]
async fn goes_through(who: String) -> anyhow::Result<()> {
    Ok(waits_at_the_gate(who).await?)
}

#[skail_command(retry_count = 0)]
async fn waits_at_another_gate(#[state] gates: &Gates) -> anyhow::Result<()> {
    gates.pass("another").await;
    Ok(())
}

#[skail_function(retry_count = 0)]
async fn lets_go_of_it(who: String) -> anyhow::Result<()> {
    tokio::select! {
        biased;
        _ = waits_at_the_gate(who) => anyhow::bail!("it does not pass"),
        other = waits_at_another_gate() => Ok(other?),
    }
}

#[tokio::test]
async fn a_probe_that_is_dropped_makes_room_for_another() {
    let bench = Bench::new();
    let breaker = Breaker::new().in_a_row(1).probes(1);
    let slow = Dependency::new().breaker(breaker.cool_down(Duration::from_secs(1)));
    let builder = bench.builder().dependency("slow", slow);
    let skail = builder.start().await.unwrap();
    bench.gates.open("bad", 1);
    let bad = skail.start(goes_through("bad".into())).await.unwrap();
    bad.result().await.unwrap_err();

    let probe = skail.start(lets_go_of_it("stuck".into())).await.unwrap();
    // Whoever is at a gate works, and the clock stands still: it has to be moved.
    bench.gates.reached("another", 1).await;
    bench.clock.step(1_200);
    bench.gates.reached("stuck", 1).await;
    let next = skail.start(goes_through("good".into())).await.unwrap();
    let held = async {
        while skail.dependency("slow").unwrap().waiting_for_breaker == 0 {
            tokio::task::yield_now().await;
        }
    };
    soon("the next one to be held", held).await;
    bench.gates.open("good", 1);
    bench.gates.open("another", 1);
    probe.result().await.unwrap();
    soon("the next one", next.result()).await.unwrap();
    let status = skail.dependency("slow").unwrap();
    assert_eq!(status.circuit, Some(CircuitState::Closed));
    assert_eq!((status.waiting_for_breaker, status.counts.dropped), (0, 1));
}

#[skail_command(
    retry_count = 40,
    backoff(base = "1ms", cap = "1ms"),
    dependency = "budgeted"
)]
async fn is_tried_often(#[state] gateway: &Gateway) -> anyhow::Result<()> {
    gateway.call(Duration::ZERO).await
}

#[skail_function(retry_count = 0)]
async fn tries_often() -> anyhow::Result<u32> {
    Ok(is_tried_often().await.unwrap_err().attempts())
}

#[tokio::test]
async fn a_budget_holds_retries_and_never_a_first_attempt() {
    let bench = Bench::new();
    bench.gateway.go_down(0, u64::MAX);
    let budget = Budget::new().per_mille(100).floor_per_second(2);
    let budgeted = Dependency::new().without_breaker().budget(budget);
    let builder = bench.builder().dependency("budgeted", budgeted);
    let skail = builder.start().await.unwrap();
    let still = bench.clock.working();
    let mut executions = Vec::new();
    for _ in 0..50 {
        executions.push(skail.start(tries_often()).await.unwrap());
    }
    drop(still);
    for execution in &executions {
        assert_eq!(execution.result().await.unwrap(), 41);
    }
    let calls = bench.gateway.calls();
    let first = calls.iter().filter(|call| call.attempt == 1);
    assert!(first.clone().count() == 50 && first.clone().all(|call| call.at == 0));
    // 2,000 retries at 2 per second.
    let seconds = bench.gateway.now() / 1_000;
    assert!((1_000..1_150).contains(&seconds), "{seconds} s");
    for last in calls.iter().filter(|call| call.attempt > 1) {
        let recent = |call: &&super::gateway::Call| {
            call.attempt > 1 && call.at <= last.at && call.at + 10_000 > last.at
        };
        assert!(calls.iter().filter(recent).count() <= 20);
    }
    let status = skail.dependency("budgeted").unwrap();
    assert_eq!((status.circuit, status.waiting_for_budget), (None, 0));
    assert_eq!(status.counts.retries, 2_000);
}

#[skail_function(retry_count = 2, backoff(base = "1s", jitter = "none"))]
async fn is_redelivered() -> anyhow::Result<()> {
    Ok(fails_at_it().await?)
}

#[tokio::test]
async fn what_a_redelivery_tries_again_counts_as_a_retry() {
    let bench = Bench::new();
    bench.gateway.go_down(0, 60_000);
    let lenient = Dependency::new().without_breaker();
    let builder = bench.builder().dependency("shared", lenient);
    let skail = builder.start().await.unwrap();
    let execution = skail.start(is_redelivered()).await.unwrap();
    execution.result().await.unwrap_err();
    let counts = skail.dependency("shared").unwrap().counts;
    // Three times two attempts, of which the very first is new.
    assert_eq!((counts.first_attempts, counts.retries), (1, 5));
}

#[tokio::test]
async fn a_dependency_that_only_commands_name_has_the_defaults() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let status = skail.dependency("shared").unwrap();
    assert_eq!(status.circuit, Some(CircuitState::Closed));
    assert_eq!(status.retries_left, Some(100));
    assert_eq!(skail.dependency("nobody names this"), None);
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused_at_the_start_by_name() {
    let bench = Bench::new();
    let broken = Dependency::new().breaker(Breaker::new().probes(0));
    let error = bench
        .builder()
        .dependency("shared", broken)
        .start()
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the dependency `shared` cannot be used: `probes` cannot be used: without one it would never \
         close: at least 1"
    );
    let error = bench
        .builder()
        .dependency("shared", Dependency::new())
        .dependency("shared", Dependency::new())
        .start()
        .await
        .unwrap_err();
    assert!(matches!(error, BuildError::DoubledDependency { .. }));
}
