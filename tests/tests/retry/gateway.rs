//! A dependency that is down for a while, and remembers who called when.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use skail_runtime::clock::{Clock as _, Timestamp};
use skail_runtime::prelude::*;
use skail_runtime::testing::VirtualClock;

/// One call, as the other side sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    /// Milliseconds since the gateway was made.
    pub(crate) at: u64,
    /// The number of the attempt.
    pub(crate) attempt: u32,
    pub(crate) succeeded: bool,
}

/// See the module; for `#[state]`.
#[derive(Debug, Clone)]
pub(crate) struct Gateway {
    clock: VirtualClock,
    made: Timestamp,
    down: Arc<Mutex<(u64, u64)>>,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl Gateway {
    /// One that is never down.
    pub(crate) fn new(clock: &VirtualClock) -> Self {
        Self {
            clock: clock.clone(),
            made: clock.now(),
            down: Arc::default(),
            calls: Arc::default(),
        }
    }

    /// Lets it be down between these times, in milliseconds since it was made.
    pub(crate) fn go_down(&self, from: u64, until: u64) {
        *self.down.lock().unwrap() = (from, until);
    }

    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.clock.since(self.made).as_millis()).unwrap()
    }

    /// Answers after `latency`, well or badly. A command that calls it with a latency needs a timeout, or
    /// the virtual clock stands still for it.
    pub(crate) async fn call(&self, latency: Duration) -> anyhow::Result<()> {
        let begun = self.now();
        if !latency.is_zero() {
            let due = self.clock.now().saturating_add(latency);
            self.clock.sleep_until(due).await;
        }
        let (from, until) = *self.down.lock().unwrap();
        let succeeded = !(from..until).contains(&begun);
        self.calls.lock().unwrap().push(Call {
            at: begun,
            attempt: attempt().number,
            succeeded,
        });
        anyhow::ensure!(succeeded, "the gateway is down");
        Ok(())
    }

    /// All calls so far, in the order in which they began.
    pub(crate) fn calls(&self) -> Vec<Call> {
        let mut calls = self.calls.lock().unwrap().clone();
        calls.sort_by_key(|call| call.at);
        calls
    }
}

/// How many calls began in each second.
pub(crate) fn per_second(calls: &[Call]) -> Vec<u64> {
    let mut seconds = Vec::new();
    for call in calls {
        let second = usize::try_from(call.at / 1_000).unwrap();
        if seconds.len() <= second {
            seconds.resize(second + 1, 0);
        }
        seconds[second] += 1;
    }
    seconds
}

/// Checks that in no window of 10 s there were more retries than the default budget allows: 10 % of the
/// first attempts of the window (and the slots at its ends), or 10 per second.
pub(crate) fn check_budget(calls: &[Call]) {
    for last in calls.iter().filter(|call| call.attempt > 1) {
        let within = |span: u64, first: bool| {
            let wanted = |call: &&Call| (call.attempt == 1) == first;
            let recent = |call: &&Call| call.at <= last.at && call.at + span > last.at;
            calls.iter().filter(recent).filter(wanted).count()
        };
        let allowed = (within(12_000, true) / 10).max(100);
        let retries = within(10_000, false);
        assert!(
            retries <= allowed,
            "{retries} of {allowed} at {} ms",
            last.at
        );
    }
}
