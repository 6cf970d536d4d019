//! Blocking bodies have threads, of which there are so many and no more.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use skail_runtime::history::Event;
use skail_runtime::prelude::*;
use skail_runtime::store::SledStore;

use super::support::{Bench, Code, Gates, Runs, recorded, soon};

/// Where bodies that block wait for the test.
struct Barrier {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Barrier {
    fn pass(&self) {
        let open = self.open.lock().unwrap();
        drop(self.opened.wait_while(open, |open| !*open).unwrap());
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

static MANY: Barrier = Barrier {
    open: Mutex::new(false),
    opened: Condvar::new(),
};

#[skail_command(blocking)]
fn blocks_a_thread(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("blocks_a_thread");
    MANY.pass();
    Ok(())
}

#[skail_function]
async fn blocks_six_hundred() -> anyhow::Result<()> {
    futures::future::try_join_all((0..600).map(|_| blocks_a_thread())).await?;
    Ok(())
}

#[tokio::test]
async fn the_store_answers_however_many_bodies_block() {
    let directory = tempfile::tempdir().unwrap();
    let runs = Runs::default();
    let builder = Skail::builder().store(SledStore::open(directory.path()).unwrap());
    let builder = builder.state(runs.clone()).state(Gates::default());
    let skail = builder.state(Code::default()).start().await.unwrap();
    let execution = skail.start(blocks_six_hundred()).await.unwrap();
    runs.reached("blocks_a_thread", 256).await;
    let status = tokio::time::timeout(Duration::from_secs(20), execution.status()).await;
    MANY.open();
    status.expect("the store answers").unwrap();
    soon("the result", execution.result()).await.unwrap();
    skail.shutdown().await.unwrap();
}

static HUNG: Barrier = Barrier {
    open: Mutex::new(false),
    opened: Condvar::new(),
};

static INSIDE: AtomicBool = AtomicBool::new(false);

#[skail_command(blocking, retry_count = 1, timeout = "1s")]
fn hangs_once(#[state] runs: &Runs) -> anyhow::Result<bool> {
    let together = INSIDE.swap(true, Ordering::SeqCst);
    if runs.count("hangs_once") == 1 {
        HUNG.pass();
    }
    INSIDE.store(false, Ordering::SeqCst);
    Ok(together)
}

#[skail_function(retry_count = 0)]
async fn has_a_step_that_hangs() -> anyhow::Result<bool> {
    Ok(hangs_once().await?)
}

#[tokio::test]
async fn a_blocking_body_keeps_its_place_under_the_bound_after_its_timeout() {
    let bench = Bench::new();
    let builder = bench.builder().max_running_commands(1);
    let skail = builder.start().await.unwrap();
    let execution = skail.start(has_a_step_that_hangs()).await.unwrap();
    recorded(&execution, |event| {
        matches!(event, Event::CommandAttemptFailed { .. })
    })
    .await;
    // A next attempt that begins beside the first has every chance to.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    HUNG.open();
    let together = soon("the result", execution.result()).await.unwrap();
    assert_eq!((together, bench.runs.of("hangs_once")), (false, 2));
}
