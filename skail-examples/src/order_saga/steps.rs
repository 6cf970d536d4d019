//! Counts the finished steps of this process, and kills it after a given one.
//!
//! Owns the counter that the commands share. The kill must be as hard as a real one: no destructor
//! runs, nothing is flushed.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Signal, getpid, kill_process};

/// The counter; clones count together.
#[derive(Debug, Clone, Default)]
pub struct Steps {
    finished: Arc<AtomicU64>,
    kill_after: Option<NonZeroU64>,
}

impl Steps {
    /// A counter that sends `SIGKILL` to this process when that many steps are finished.
    #[must_use]
    pub fn new(kill_after: Option<NonZeroU64>) -> Self {
        Self {
            finished: Arc::default(),
            kill_after,
        }
    }

    /// Counts one. A command calls this when its work is done, so that the kill comes at the worst
    /// moment: after the effect, before its record.
    pub fn finish(&self) {
        let finished = self.finished.fetch_add(1, Ordering::Relaxed) + 1;
        if self.kill_after.is_some_and(|last| last.get() == finished) {
            // It cannot fail: a process may always kill itself.
            let _ = kill_process(getpid(), Signal::KILL);
        }
    }

    /// How many were finished.
    #[must_use]
    pub fn finished(&self) -> u64 {
        self.finished.load(Ordering::Relaxed)
    }
}
