//! A thousand executions and a dependency that is down for a minute.

use std::time::Duration;

use skail_runtime::prelude::*;
use skail_runtime::retry::CircuitState;

use super::bench::Bench;
use super::gateway::{Call, Gateway, check_budget, per_second};
use super::support::soon;

const LATENCY: Duration = Duration::from_millis(20);

// By default: six attempts with waits of 15.5 s in all at most. In an outage of a minute they would be
// spent, were it not for the breaker.
#[skail_command(timeout = "10s", dependency = "gateway")]
async fn calls_the_gateway(#[state] gateway: &Gateway, order: u32) -> anyhow::Result<u32> {
    gateway.call(LATENCY).await?;
    Ok(order)
}

#[skail_function(retry_count = 0)]
async fn pays(order: u32) -> anyhow::Result<u32> {
    Ok(calls_the_gateway(order).await?)
}

/// Runs a thousand executions, the first at once and the last after `spread`, and gives the calls.
async fn a_thousand(spread: Duration, down: (u64, u64)) -> Vec<Call> {
    let bench = Bench::new();
    bench.gateway.go_down(down.0, down.1);
    let skail = bench.engine().await;
    let still = skail_runtime::clock::Clock::working(&bench.clock);
    let mut executions = Vec::new();
    for order in 0..1_000 {
        let start = skail.start(pays(order)).delay(spread / 999 * order);
        executions.push(start.await.unwrap());
    }
    drop(still);
    for (order, execution) in (0..).zip(&executions) {
        let result = soon("a payment", execution.result()).await;
        assert_eq!(result.unwrap(), order);
    }
    let status = skail.dependency("gateway").unwrap();
    let calls = bench.gateway.calls();
    let counts = status.counts;
    let failed = calls.iter().filter(|call| !call.succeeded).count();
    println!(
        "1,000 executions over {spread:?}, down from {} to {} s: {} calls, {failed} of them failed; \
         all done after {:.1} s; most attempts {}; per second {:?}\n{counts:?}",
        down.0 / 1_000,
        down.1 / 1_000,
        calls.len(),
        calls.last().map_or(0.0, |call| call.at as f64 / 1_000.0),
        calls.iter().map(|call| call.attempt).max().unwrap_or(0),
        per_second(&calls),
    );
    assert_eq!(status.circuit, Some(CircuitState::Closed));
    assert_eq!(
        (status.waiting_for_breaker, status.waiting_for_budget),
        (0, 0)
    );
    assert_eq!(counts.succeeded, 1_000);
    assert_eq!(counts.failed, failed as u64);
    assert_eq!(counts.first_attempts + counts.retries, calls.len() as u64);
    assert!(counts.opened >= 1 && counts.closed == 1);
    assert_eq!(counts.half_opened, counts.opened);
    check_budget(&calls);
    calls
}

#[tokio::test]
async fn executions_that_come_during_an_outage_burn_no_attempt_and_complete_after_it() {
    let calls = a_thousand(Duration::from_secs(80), (10_000, 70_000)).await;
    let failed: Vec<&Call> = calls.iter().filter(|call| !call.succeeded).collect();
    // What opened it, and the probes of each trial; nobody else called while it was open.
    assert!(failed.len() <= 10 + 2 * 5, "{} failed", failed.len());
    assert!(calls.len() - failed.len() == 1_000);
    // What had waited came back step by step.
    let seconds = per_second(&calls);
    let after = &seconds[70..];
    let first_busy = after.iter().position(|calls| *calls > 0).unwrap();
    assert!(after[first_busy] <= 30, "{after:?}");
}

#[tokio::test]
async fn executions_that_all_fail_at_once_burn_one_attempt_each_and_complete_after_the_outage() {
    let calls = a_thousand(Duration::ZERO, (0, 60_000)).await;
    let retries = calls.iter().filter(|call| call.attempt > 1).count();
    // All of them were on the line before the first had failed.
    assert!((1_000..1_000 + 2 * 5).contains(&retries), "{retries}");
}
