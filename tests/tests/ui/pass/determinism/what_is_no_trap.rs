//! What only looks like a trap, and `select!` in a fixed order.
#![deny(warnings)]

use std::time::{Duration, SystemTime};

use futures::FutureExt;
use skail_runtime::{skail_command, skail_function};

pub struct Clock;

impl Clock {
    fn now(&self) -> u64 {
        7
    }

    fn spawn(&self) {}
}

#[skail_command]
async fn read_clock() -> anyhow::Result<SystemTime> {
    tokio::time::sleep(Duration::from_millis(1)).await;
    Ok(SystemTime::now())
}

#[skail_function]
async fn process(seed: u64) -> anyhow::Result<u64> {
    let clock = Clock;
    clock.spawn();
    let first: SystemTime = tokio::select! {
        biased;
        time = read_clock() => time?,
        time = read_clock() => time?,
    };
    let _ = futures::select_biased! {
        time = read_clock().fuse() => time?,
        () = async {}.fuse() => first,
    };
    let mut random = fastrand::Rng::with_seed(seed);
    let elapsed = first.duration_since(SystemTime::UNIX_EPOCH)?;
    Ok(clock.now() + random.u64(..) + elapsed.as_secs())
}

fn main() {
    let _ = process(1);
}
