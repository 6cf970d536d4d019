//! Where time comes from.
//!
//! Owns the only reading of the machine's clock. Everything else is given a [`Timestamp`] or a
//! [`Clock`], so that tests decide what time it is. Must never know what is waited for.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A point in time: milliseconds since 1970-01-01 UTC. Arithmetic saturates; it never panics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The latest point that can be written down.
    pub const MAX: Self = Self(i64::MAX);

    /// From milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// This point and `duration` more, rounded up to a whole millisecond so that a wait never ends
    /// early, at most [`Timestamp::MAX`].
    #[must_use]
    pub fn saturating_add(self, duration: Duration) -> Self {
        let whole = duration.as_nanos().div_ceil(1_000_000);
        let millis = i64::try_from(whole).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(millis))
    }

    /// How long after `earlier` this point is; zero if it is not (a clock that was set back must not
    /// become a panic or a wait of centuries).
    #[must_use]
    pub fn saturating_since(self, earlier: Self) -> Duration {
        let millis = self.0.saturating_sub(earlier.0);
        Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    }
}

/// A future that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The source of time for one Skail.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// What time it is.
    fn now(&self) -> Timestamp;

    /// Resolves when [`now`](Clock::now) has reached `due`. Never early; after a step backwards of the
    /// machine's clock it may wait on, since `due` has then not come yet.
    fn sleep_until(&self, due: Timestamp) -> BoxFuture<'static, ()>;

    /// Says that work is going on which needs no passing of time, until the guard is dropped. A virtual
    /// clock stands still meanwhile; a real one does not care.
    fn working(&self) -> WorkGuard {
        WorkGuard(None)
    }
}

/// Holds a virtual clock still while it lives; see [`Clock::working`].
#[must_use = "the clock may move on as soon as this is dropped"]
pub struct WorkGuard(Option<Box<dyn FnOnce() + Send + Sync>>);

impl WorkGuard {
    /// A guard that calls `done` when it is dropped.
    pub fn new(done: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(done)))
    }
}

impl Drop for WorkGuard {
    fn drop(&mut self) {
        if let Some(done) = self.0.take() {
            done();
        }
    }
}

impl fmt::Debug for WorkGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WorkGuard")
    }
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl SystemClock {
    /// The machine's clock, shared.
    #[must_use]
    pub fn shared() -> Arc<dyn Clock> {
        Arc::new(Self)
    }
}

/// The longest nap between two looks at the wall clock: tokio's timer is monotonic and does not see a
/// machine that slept or a clock that was set.
const LONGEST_NAP: Duration = Duration::from_secs(5);

impl Clock for SystemClock {
    #[allow(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the clock"
    )]
    fn now(&self) -> Timestamp {
        let now = std::time::SystemTime::now();
        let millis = match now.duration_since(std::time::UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            // A machine whose clock stands before 1970: time is 0 until somebody sets it.
            Err(_) => 0,
        };
        Timestamp(millis)
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "this is the one place that sleeps"
    )]
    fn sleep_until(&self, due: Timestamp) -> BoxFuture<'static, ()> {
        let clock = *self;
        Box::pin(async move {
            loop {
                let left = due.saturating_since(clock.now());
                if left.is_zero() {
                    return;
                }
                tokio::time::sleep(left.min(LONGEST_NAP)).await;
            }
        })
    }
}
