//! One execution of many steps: what a step costs early and late, and what a replay of all of them costs.

use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde::Serialize;
use skail_runtime::prelude::*;
use skail_runtime::store::SledStore;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use super::{kib_on_disk, rounded};

/// What was measured at one size.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    workload: &'static str,
    steps: u32,
    /// The mean of the first and of the last tenth of the steps, recorded and synced one by one.
    us_per_step_early: f64,
    us_per_step_late: f64,
    /// From the start of the engine, after a crash before the last step, to the result.
    replay_ms: f64,
    us_per_replayed_step: f64,
    kib_on_disk: u64,
}

/// When each tenth of the steps was done. No `#[state]`, which every workload of this program would have to
/// give its engine.
static MARKS: Mutex<Vec<Instant>> = Mutex::new(Vec::new());

/// Where the last step waits.
static GATE: Semaphore = Semaphore::const_new(0);

fn marks() -> MutexGuard<'static, Vec<Instant>> {
    MARKS.lock().expect("nobody panics with it")
}

#[skail_command]
async fn counts(number: u32, mark: bool) -> anyhow::Result<u32> {
    if mark {
        #[allow(clippy::disallowed_methods, reason = "a bench measures time")]
        let now = Instant::now();
        marks().push(now);
    }
    Ok(number + 1)
}

#[skail_command]
async fn waits() -> anyhow::Result<()> {
    GATE.acquire().await?.forget();
    Ok(())
}

#[skail_function]
async fn long(steps: u32) -> anyhow::Result<u32> {
    let mut number = 0;
    while number < steps {
        number = counts(number, number % (steps / 10) == 0).await?;
    }
    waits().await?;
    Ok(number)
}

async fn engine(dir: &Path) -> anyhow::Result<Skail> {
    let builder = Skail::builder().store(SledStore::open(dir.join("store"))?);
    Ok(builder.start().await?)
}

#[allow(clippy::disallowed_methods, reason = "a bench measures time")]
pub(crate) fn run(steps: u32, dir: &Path) -> anyhow::Result<Line> {
    let steps = steps.max(10);
    marks().clear();
    // The runtime is dropped as it stands, as in a crash.
    Runtime::new()?.block_on(until_the_last_step(steps, dir))?;
    let end = Instant::now();
    GATE.add_permits(1);
    let start = Instant::now();
    let result = Runtime::new()?.block_on(async {
        let skail = engine(dir).await?;
        let result = skail.execution::<u32>("long").await?.result().await?;
        anyhow::Ok((result, skail))
    });
    let (result, skail) = result?;
    let replay = start.elapsed();
    drop(skail);
    anyhow::ensure!(result == steps, "a wrong result: {result}");
    let marks = marks().clone();
    anyhow::ensure!(marks.len() == 10 && end > marks[9], "a replay ran bodies");
    let tenth = f64::from(steps / 10);
    Ok(Line {
        workload: "long",
        steps,
        us_per_step_early: rounded((marks[1] - marks[0]).as_secs_f64() * 1e6 / tenth),
        us_per_step_late: rounded((marks[9] - marks[8]).as_secs_f64() * 1e6 / tenth),
        replay_ms: rounded(replay.as_secs_f64() * 1e3),
        us_per_replayed_step: rounded(replay.as_secs_f64() * 1e6 / f64::from(steps)),
        kib_on_disk: kib_on_disk(dir)?,
    })
}

#[allow(clippy::disallowed_methods, reason = "a bench has a real clock")]
async fn until_the_last_step(steps: u32, dir: &Path) -> anyhow::Result<()> {
    let skail = engine(dir).await?;
    let execution = skail.start(long(steps)).id("long").await?;
    while execution.history().await?.len() <= steps as usize {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    Ok(())
}
