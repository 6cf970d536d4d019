//! Starting an engine for a test, and counting what its commands did.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use skail_runtime::prelude::*;
use skail_runtime::store::MemoryStore;
use skail_runtime::testing::VirtualClock;

/// Counts body runs by command, for `#[state]`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Runs(Arc<Mutex<BTreeMap<String, u32>>>);

impl Runs {
    /// One more run; gives its number, from 1.
    pub(crate) fn count(&self, command: &str) -> u32 {
        let mut runs = self.0.lock().unwrap();
        let count = runs.entry(command.to_owned()).or_default();
        *count += 1;
        *count
    }

    pub(crate) fn of(&self, command: &str) -> u32 {
        self.0.lock().unwrap().get(command).copied().unwrap_or(0)
    }
}

/// A store, a clock, counters; engines come and go.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) store: MemoryStore,
    pub(crate) clock: VirtualClock,
    pub(crate) runs: Runs,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self {
            store: MemoryStore::new(),
            clock: VirtualClock::new(),
            runs: Runs::default(),
        }
    }

    pub(crate) async fn engine(&self) -> Skail {
        Skail::builder()
            .store(self.store.clone())
            .clock(Arc::new(self.clock.clone()))
            .seed(1)
            .state(self.runs.clone())
            .start()
            .await
            .expect("the engine starts")
    }
}
