//! Branches of one function wake one another, and long functions poll a lot: neither is held against them.

use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt as _};
use skail_runtime::prelude::*;
use tokio::sync::{Barrier, Mutex, Notify, Semaphore, mpsc, oneshot};

use super::support::{Bench, Gates, Runs, soon};

#[skail_command]
async fn doubles(#[state] runs: &Runs, number: u32) -> anyhow::Result<u32> {
    runs.count("doubles");
    Ok(number * 2)
}

#[skail_command]
async fn waits_until_let(#[state] gates: &Gates) -> anyhow::Result<()> {
    gates.pass("until let").await;
    Ok(())
}

#[skail_function]
async fn hands_values_between_branches() -> anyhow::Result<u32> {
    let (first, first_done) = oneshot::channel();
    let (all, mut results) = mpsc::channel(1);
    let (barrier, notify) = (Barrier::new(2), Notify::new());
    let (total, one_at_a_time) = (Mutex::new(0), Semaphore::new(1));
    let add = async |number: u32| -> anyhow::Result<()> {
        let _turn = one_at_a_time.acquire().await?;
        let mut total = total.lock().await;
        *total += doubles(number).await?;
        Ok(())
    };
    let one = async {
        add(1).await?;
        let _ = first.send(1);
        barrier.wait().await;
        for number in 0..5 {
            all.send(doubles(number).await?).await?;
        }
        drop(all);
        anyhow::Ok(())
    };
    let two = async {
        let one = first_done.await?;
        add(one + 1).await?;
        barrier.wait().await;
        notify.notify_one();
        let mut sum = 0;
        while let Some(result) = results.recv().await {
            sum += result;
        }
        anyhow::Ok(sum)
    };
    let three = async {
        notify.notified().await;
        add(10).await
    };
    let ((), sum, ()) = futures::try_join!(one, two, three)?;
    waits_until_let().await?;
    let total = *total.lock().await;
    Ok(sum + total)
}

#[tokio::test]
async fn branches_meet_through_tokios_locks_channels_and_barriers_live_and_in_replay() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("branches").unwrap();
    skail
        .start(hands_values_between_branches())
        .id(&id)
        .await
        .unwrap();
    bench.gates.reached("until let", 1).await;
    let skail = bench.crash(skail).await;
    bench.gates.open("until let", 1);
    let execution = skail.execution::<u32>(&id).await.unwrap();
    let result = soon("the result", execution.result()).await.unwrap();
    assert_eq!(result, 2 * (1 + 2 + 3 + 4) + 2 * (1 + 2 + 10));
    assert_eq!(bench.runs.of("doubles"), 3 + 5);
}

#[skail_function]
async fn streams_many_at_a_time(many: u32) -> anyhow::Result<u32> {
    let mut calls: FuturesUnordered<_> = (0..many).map(doubles).collect();
    let mut sum = 0;
    while let Some(doubled) = calls.next().await {
        sum += doubled?;
        if sum % 7 == 0 {
            calls.push(doubles(0));
        }
    }
    let mut buffered = futures::stream::iter((0..many).map(doubles)).buffer_unordered(16);
    while let Some(doubled) = buffered.next().await {
        sum += doubled?;
    }
    waits_until_let().await?;
    Ok(sum)
}

#[tokio::test]
async fn streams_that_wake_themselves_work_live_and_in_replay() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("streams").unwrap();
    skail
        .start(streams_many_at_a_time(200))
        .id(&id)
        .await
        .unwrap();
    bench.gates.reached("until let", 1).await;
    let ran = bench.runs.of("doubles");
    let skail = bench.crash(skail).await;
    bench.gates.open("until let", 1);
    let execution = skail.execution::<u32>(&id).await.unwrap();
    let result = soon("the result", execution.result()).await.unwrap();
    assert_eq!(result, 2 * (199 * 200));
    assert_eq!(bench.runs.of("doubles"), ran);
}

#[skail_function]
async fn counts_far(steps: u32) -> anyhow::Result<u32> {
    let mut sum = 0;
    for number in 0..steps {
        sum += doubles(number % 10).await?;
    }
    waits_until_let().await?;
    Ok(sum)
}

#[tokio::test]
async fn ten_thousand_recorded_steps_replay_without_a_stall() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("far").unwrap();
    skail.start(counts_far(10_000)).id(&id).await.unwrap();
    bench.gates.reached("until let", 1).await;
    let skail = bench.crash(skail).await;
    bench.gates.reached("until let", 2).await;
    bench.gates.open("until let", 1);
    let execution = skail.execution::<u32>(&id).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 90_000);
    assert_eq!(bench.runs.of("doubles"), 10_000);
}

#[skail_function]
async fn joins_many(many: u32) -> anyhow::Result<usize> {
    let calls = (0..many).map(doubles);
    let results = futures::future::try_join_all(calls).await?;
    waits_until_let().await?;
    Ok(results.len())
}

#[tokio::test]
async fn two_thousand_joined_steps_neither_stall_nor_livelock_live_or_in_replay() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("many").unwrap();
    skail.start(joins_many(2_000)).id(&id).await.unwrap();
    bench.gates.reached("until let", 1).await;
    let skail = bench.crash(skail).await;
    bench.gates.reached("until let", 2).await;
    bench.gates.open("until let", 1);
    let execution = skail.execution::<usize>(&id).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 2_000);
    assert_eq!(bench.runs.of("doubles"), 2_000);
}

/// Takes from tokio's budget what a busy function would: each lock is a point at which tokio may answer
/// "not now" to a task that has used its budget up.
#[skail_function]
async fn uses_much_budget_between_steps() -> anyhow::Result<u32> {
    let lock = Mutex::new(0);
    for number in 0..10 {
        for _ in 0..1_000 {
            *lock.lock().await += 1;
        }
        doubles(number).await?;
    }
    let total = *lock.lock().await;
    Ok(total)
}

#[tokio::test]
async fn a_function_may_use_tokios_primitives_more_often_than_a_tasks_budget_allows() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(uses_much_budget_between_steps()).await.unwrap();
    let result = tokio::time::timeout(Duration::from_secs(60), execution.result()).await;
    assert_eq!(result.unwrap().unwrap(), 10_000);
}
