//! Many executions that sleep for a month: what a start of the engine costs beside them, what they hold
//! in memory, and whether the first of them wakes in time.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use serde::Serialize;
use skail_runtime::clock::{BoxFuture, Clock, SystemClock, Timestamp};
use skail_runtime::prelude::*;
use skail_runtime::store::SledStore;

use super::{kib_in_memory, kib_on_disk, rounded};

/// What was measured at one size.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    workload: &'static str,
    sleepers: u32,
    /// Started, and asleep in the store.
    asleep_per_s: f64,
    /// Opening the store and starting an engine beside them.
    start_ms: f64,
    /// What that added to the process.
    kib_in_memory: u64,
    kib_on_disk: u64,
    /// How long after its time the first of them was awake and done.
    late_ms: f64,
}

const MONTH: Duration = Duration::from_secs(30 * 24 * 3_600);

/// How long after the second start the first sleeper's time comes.
const SOON: Duration = Duration::from_secs(2);

/// The machine's clock, set forward.
#[derive(Debug)]
struct Later {
    clock: Arc<dyn Clock>,
    by: Duration,
}

impl Clock for Later {
    fn now(&self) -> Timestamp {
        self.clock.now().saturating_add(self.by)
    }

    fn sleep_until(&self, due: Timestamp) -> BoxFuture<'static, ()> {
        let wait = due.saturating_since(self.now());
        self.clock
            .sleep_until(self.clock.now().saturating_add(wait))
    }
}

#[skail_function]
async fn sleeps(until: Timestamp) -> anyhow::Result<()> {
    sleep_until(until).await?;
    Ok(())
}

pub(crate) fn run(sleepers: u32, dir: &Path) -> anyhow::Result<Line> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(measure(sleepers, dir))
}

#[allow(clippy::disallowed_methods, reason = "a bench measures time")]
async fn measure(sleepers: u32, dir: &Path) -> anyhow::Result<Line> {
    let path = dir.join("store");
    let builder = Skail::builder().store(SledStore::open(&path)?);
    let skail = builder.start().await?;
    let start = Instant::now();
    let first = SystemClock::shared().now().saturating_add(MONTH);
    let starts = (0..sleepers).map(|number| {
        let due = first.saturating_add(Duration::from_secs(60 * u64::from(number)));
        let skail = &skail;
        async move {
            let sleeper = skail.start(sleeps(due)).id(format!("sleeper-{number:07}"));
            sleeper.await.map(drop)
        }
    });
    stream::iter(starts)
        .buffer_unordered(512)
        .try_collect::<()>()
        .await?;
    // The last of them is asleep when its wait is recorded.
    let last = format!("sleeper-{:07}", sleepers - 1);
    let last = skail.execution::<()>(&last).await?;
    while last.history().await?.len() < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let asleep = start.elapsed();
    drop(last);
    skail.shutdown().await?;
    drop(skail);

    let before = kib_in_memory();
    let start = Instant::now();
    let clock = SystemClock::shared();
    let by = first.saturating_since(clock.now()).saturating_sub(SOON);
    let clock = Arc::new(Later { clock, by });
    let builder = Skail::builder().store(SledStore::open(&path)?);
    let builder = builder.clock(Arc::clone(&clock) as Arc<dyn Clock>);
    let skail = builder.start().await?;
    let started = start.elapsed();
    let memory = kib_in_memory().saturating_sub(before);
    skail
        .execution::<()>("sleeper-0000000")
        .await?
        .result()
        .await?;
    let late = clock.now().saturating_since(first);
    skail.shutdown().await?;
    Ok(Line {
        workload: "sleepers",
        sleepers,
        asleep_per_s: rounded(f64::from(sleepers) / asleep.as_secs_f64()),
        start_ms: rounded(started.as_secs_f64() * 1e3),
        kib_in_memory: memory,
        kib_on_disk: kib_on_disk(dir)?,
        late_ms: rounded(late.as_secs_f64() * 1e3),
    })
}
