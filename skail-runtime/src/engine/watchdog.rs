//! Says so when a function does not come back from a poll.
//!
//! A function that blocks its thread, by `block_on`, a lock or a long computation, cannot be interrupted,
//! and the executions beside it may stand still with it: on a runtime of one thread, all of them. Owns a
//! thread for that reason, which looks now and then. It measures in looks and not in time, so that it
//! depends on no clock. Must never touch an execution.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use crate::descriptor::FunctionDescriptor;
use crate::ids::ExecutionId;

/// How many looks a poll may outlast.
const PATIENCE: u32 = 10;

/// The polls of one execution, while a driver has it.
#[derive(Debug)]
pub(crate) struct Watched {
    execution: ExecutionId,
    function: &'static FunctionDescriptor,
    /// Odd while the function is polled.
    turn: AtomicU64,
}

impl Watched {
    /// The function is polled until the guard is dropped.
    pub(crate) fn enter(&self) -> InPoll<'_> {
        self.turn.fetch_add(1, Ordering::Relaxed);
        InPoll(self)
    }
}

/// One poll.
#[derive(Debug)]
pub(crate) struct InPoll<'a>(&'a Watched);

impl Drop for InPoll<'_> {
    fn drop(&mut self) {
        self.0.turn.fetch_add(1, Ordering::Relaxed);
    }
}

/// What was seen of an execution.
#[derive(Debug)]
struct Seen {
    watched: Weak<Watched>,
    turn: u64,
    looks: u32,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Watchdog {
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Disconnects when the engine is gone, which ends the thread.
    _alive: mpsc::Sender<()>,
}

impl Watchdog {
    /// Starts the thread. Where there can be none, nobody is warned, and that is all.
    pub(crate) fn start(patience: Duration) -> Self {
        let (alive, ended) = mpsc::channel();
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let looked_at = Arc::clone(&seen);
        let every = (patience / PATIENCE).max(Duration::from_millis(1));
        let thread = thread::Builder::new().name("skail-watchdog".to_owned());
        let started = thread.spawn(move || {
            while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                look(&mut lock(&looked_at), patience);
            }
        });
        if let Err(error) = started {
            tracing::warn!(%error, "functions that block their thread will not be noticed");
        }
        Self {
            seen,
            _alive: alive,
        }
    }

    /// Watches the polls of an execution until what this returns is dropped.
    pub(crate) fn watch(
        &self,
        execution: ExecutionId,
        function: &'static FunctionDescriptor,
    ) -> Arc<Watched> {
        let watched = Arc::new(Watched {
            execution,
            function,
            turn: AtomicU64::new(0),
        });
        lock(&self.seen).push(Seen {
            watched: Arc::downgrade(&watched),
            turn: 0,
            looks: 0,
        });
        watched
    }
}

fn lock(seen: &Mutex<Vec<Seen>>) -> std::sync::MutexGuard<'_, Vec<Seen>> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

fn look(seen: &mut Vec<Seen>, patience: Duration) {
    seen.retain_mut(|seen| {
        let Some(watched) = seen.watched.upgrade() else {
            return false;
        };
        let turn = watched.turn.load(Ordering::Relaxed);
        if turn.is_multiple_of(2) || turn != seen.turn {
            (seen.turn, seen.looks) = (turn, 0);
            return true;
        }
        seen.looks += 1;
        if seen.looks == PATIENCE {
            tracing::error!(
                execution = %watched.execution, function = watched.function.name,
                site = %watched.function.site,
                "the function has not come back for {patience:?}: it blocks its thread, and what runs \
                 there stands still. Await calls instead of blocking on them, and put long computations \
                 into a `#[skail_command(blocking)]`"
            );
        }
        true
    });
}
