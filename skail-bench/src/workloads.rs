//! The workloads: small commands, so that what is measured is Skail and the disk.

use std::path::Path;
use std::time::Instant;

use futures::future::try_join_all;
use skail_runtime::prelude::*;
use skail_runtime::store::{MemoryStore, SledStore};

use super::{StoreKind, Workload};

#[skail_command]
async fn step(number: u64) -> anyhow::Result<u64> {
    Ok(number + 1)
}

#[skail_function]
async fn sequence(steps: u64) -> anyhow::Result<u64> {
    let mut number = 0;
    while number < steps {
        number = step(number).await?;
    }
    Ok(number)
}

#[skail_function]
async fn fan_out(steps: u64) -> anyhow::Result<u64> {
    let results = try_join_all((0..steps).map(step)).await?;
    Ok(results.into_iter().sum())
}

/// Runs one workload on a fresh store and gives its rate per second.
pub(crate) async fn run(workload: Workload, store: StoreKind, dir: &Path) -> anyhow::Result<f64> {
    let builder = Skail::builder().max_running_executions(1_024);
    let builder = match store {
        StoreKind::Sled => builder.store(SledStore::open(dir.join("store"))?),
        StoreKind::Memory => builder.store(MemoryStore::new()),
    };
    let skail = builder.start().await?;
    let rate = match workload {
        Workload::Concurrent => concurrent(&skail, 256, 20).await? * 20.0,
        Workload::Sequential => concurrent(&skail, 1, 1_000).await? * 1_000.0,
        Workload::Short => concurrent(&skail, 10_000, 1).await?,
        Workload::Parallel => parallel(&skail, 200).await?,
        other => anyhow::bail!("{other:?} has no engine in it"),
    };
    skail.shutdown().await?;
    Ok(rate)
}

/// Executions per second, from the first start to the last result.
#[allow(clippy::disallowed_methods, reason = "a bench measures time")]
async fn concurrent(skail: &Skail, executions: u32, steps: u64) -> anyhow::Result<f64> {
    let start = Instant::now();
    let run = |number: u32| async move {
        let execution = skail
            .start(sequence(steps))
            .id(format!("execution-{number:06}"))
            .await?;
        let result = execution.result().await?;
        anyhow::ensure!(result == steps, "a wrong result: {result}");
        anyhow::Ok(())
    };
    try_join_all((0..executions).map(run)).await?;
    Ok(f64::from(executions) / start.elapsed().as_secs_f64())
}

#[allow(clippy::disallowed_methods, reason = "a bench measures time")]
async fn parallel(skail: &Skail, steps: u32) -> anyhow::Result<f64> {
    // Twenty in a row, since one takes milliseconds.
    const ROUNDS: u32 = 20;
    let start = Instant::now();
    for _ in 0..ROUNDS {
        skail
            .start(fan_out(u64::from(steps)))
            .await?
            .result()
            .await?;
    }
    Ok(f64::from(steps * ROUNDS) / start.elapsed().as_secs_f64())
}
