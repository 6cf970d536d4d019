//! The bounds on what runs at once hold, and nothing waits for ever behind them.

use std::time::Duration;

use skail_runtime::clock::Clock as _;
use skail_runtime::prelude::*;

use super::support::{Bench, Gates, Runs, soon};

#[skail_command]
async fn is_one_of_many(#[state] gates: &Gates, #[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("began");
    gates.pass("many").await;
    Ok(())
}

#[skail_function]
async fn calls_one_of_many() -> anyhow::Result<()> {
    is_one_of_many().await?;
    is_one_of_many().await?;
    Ok(())
}

#[skail_function]
async fn calls_many(many: usize) -> anyhow::Result<usize> {
    let calls = (0..many).map(|_| is_one_of_many());
    Ok(futures::future::try_join_all(calls).await?.len())
}

/// As many as are allowed gather at the gate; then all are let through, and never more were there.
async fn gather_and_pass(bench: &Bench, bound: u32) {
    bench.gates.reached("many", bound).await;
    bench.gates.open("many", 100);
}

#[tokio::test]
async fn no_more_commands_run_at_once_than_the_bound_allows() {
    let bench = Bench::new();
    let builder = bench.builder().max_running_commands(3);
    let skail = builder.start().await.unwrap();
    let one = skail.start(calls_many(10)).await.unwrap();
    let other = skail.start(calls_many(10)).await.unwrap();
    gather_and_pass(&bench, 3).await;
    for execution in [one, other] {
        assert_eq!(soon("both", execution.result()).await.unwrap(), 10);
    }
    assert_eq!((bench.gates.peak("many"), bench.runs.of("began")), (3, 20));
}

#[tokio::test]
async fn no_more_executions_are_in_memory_than_the_bound_allows() {
    let bench = Bench::new();
    let builder = bench.builder().max_running_executions(4);
    let skail = builder.start().await.unwrap();
    let mut executions = Vec::new();
    for _ in 0..10 {
        executions.push(skail.start(calls_one_of_many()).await.unwrap());
    }
    gather_and_pass(&bench, 4).await;
    for execution in executions {
        soon("all of them", execution.result()).await.unwrap();
    }
    assert_eq!((bench.gates.peak("many"), bench.runs.of("began")), (4, 20));
}

#[tokio::test]
async fn bounds_of_one_deadlock_neither_joined_steps_nor_many_executions() {
    let bench = Bench::new();
    let builder = bench
        .builder()
        .max_running_executions(1)
        .max_running_commands(1);
    let skail = builder.start().await.unwrap();
    bench.gates.open("many", 50);
    let mut executions = Vec::new();
    for _ in 0..5 {
        executions.push(skail.start(calls_many(10)).await.unwrap());
    }
    for execution in executions {
        assert_eq!(soon("all of them", execution.result()).await.unwrap(), 10);
    }
}

#[tokio::test]
async fn with_a_bound_of_one_a_crash_between_two_steps_does_not_block_the_queue() {
    let mut bench = Bench::new();
    let skail = bench
        .builder()
        .max_running_executions(1)
        .start()
        .await
        .unwrap();
    let ids = ["first", "second"].map(|id| ExecutionId::new(id).unwrap());
    for id in &ids {
        skail.start(calls_one_of_many()).id(id).await.unwrap();
    }
    bench.gates.open("many", 1);
    bench.gates.reached("many", 2).await;
    skail.kill().await;
    bench.store = bench.store.crash();
    bench.gates.open("many", 10);
    let skail = bench
        .builder()
        .max_running_executions(1)
        .start()
        .await
        .unwrap();
    for id in &ids {
        let execution = skail.execution::<()>(id).await.unwrap();
        soon("both of them", execution.result()).await.unwrap();
    }
}

#[skail_command(backoff(base = "1h", cap = "1h", jitter = "none"))]
async fn fails_until_an_hour_has_passed(#[state] runs: &Runs) -> anyhow::Result<()> {
    anyhow::ensure!(runs.count("hourly") > 1, "an hour early");
    Ok(())
}

#[skail_function]
async fn waits_for_an_hour() -> anyhow::Result<()> {
    Ok(fails_until_an_hour_has_passed().await?)
}

#[tokio::test]
async fn what_waits_for_long_leaves_its_place_in_memory_to_others() {
    let bench = Bench::new();
    let skail = bench
        .builder()
        .max_running_executions(1)
        .start()
        .await
        .unwrap();
    let start = bench.clock.now();
    let still = bench.clock.working();
    let waiting = skail.start(waits_for_an_hour()).await.unwrap();
    bench.runs.reached("hourly", 1).await;
    bench.gates.open("many", 2);
    let other = skail.start(calls_one_of_many()).await.unwrap();
    soon("the other", other.result()).await.unwrap();
    assert_eq!(bench.clock.now(), start);
    drop(still);
    waiting.result().await.unwrap();
    assert_eq!(bench.clock.since(start), Duration::from_secs(3_600));
}
