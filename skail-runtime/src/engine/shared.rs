//! What every part of one running Skail shares.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, watch};

use super::dependencies::Dependencies;
use super::hooks::Hooks;
use super::retention::Retention;
use super::waiters::Waiters;
use super::watchdog::Watchdog;
use crate::clock::Clock;
use crate::ids::WorkerId;
use crate::registry::Registry;
use crate::retry::Backoff;
use crate::state::StateMap;
use crate::store::Store;

/// Bounds and times, as the builder set them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// The most executions in memory at once.
    pub(crate) max_executions: usize,
    /// The most command bodies running at once.
    pub(crate) max_commands: usize,
    /// The largest argument list or result, in bytes.
    pub(crate) payload_limit: usize,
    /// How long a lease lasts unless it is renewed.
    pub(crate) lease: Duration,
    /// How long a shutdown waits for running commands.
    pub(crate) shutdown_grace: Duration,
    /// A wait longer than this leaves memory.
    pub(crate) warm_period: Duration,
    /// How long one poll of a function may take before somebody is told.
    pub(crate) poll_patience: Duration,
    pub(crate) retention: Retention,
    /// The wait before an attempt of what names no backoff.
    pub(crate) backoff: Backoff,
    /// The longest wait that an error may ask for.
    pub(crate) max_retry_after: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_executions: 1_000,
            max_commands: 1_000,
            payload_limit: 4 * 1024 * 1024,
            lease: Duration::from_secs(30),
            shutdown_grace: Duration::from_secs(30),
            warm_period: Duration::from_secs(10),
            poll_patience: Duration::from_secs(10),
            retention: Retention::default(),
            backoff: Backoff::DEFAULT,
            max_retry_after: Duration::from_secs(5 * 60),
        }
    }
}

/// How many blocking bodies may run at once: half of the threads that tokio has for them by default, so
/// that the store, which reads on the others, is never shut out by bodies that take long or hang.
pub(crate) const MOST_BLOCKING: usize = 256;

/// See the module.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) registry: Registry,
    pub(crate) state: Arc<StateMap>,
    pub(crate) settings: Settings,
    pub(crate) worker: WorkerId,
    pub(crate) commands: Arc<Semaphore>,
    /// The most blocking bodies at once.
    pub(crate) blocking: Arc<Semaphore>,
    pub(crate) dependencies: Dependencies,
    pub(crate) waiters: Waiters,
    pub(crate) watchdog: Watchdog,
    /// Turns true when the shutdown begins.
    pub(crate) stopping: watch::Sender<bool>,
    pub(crate) random: Mutex<fastrand::Rng>,
    /// What a test does to bodies; nothing in a program.
    pub(crate) hooks: Option<Arc<dyn Hooks>>,
}

impl Shared {
    /// A number from `[0, 1)`.
    pub(crate) fn random(&self) -> f64 {
        self.draw(fastrand::Rng::f64)
    }

    /// Draws from the one source of randomness.
    pub(crate) fn draw<R>(&self, draw: impl FnOnce(&mut fastrand::Rng) -> R) -> R {
        draw(&mut self.random.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }
}
