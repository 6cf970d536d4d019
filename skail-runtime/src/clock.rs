//! Where time comes from.
//!
//! Owns the only reading of the machine's clock. Everything else is given a [`Timestamp`] or a
//! [`Clock`], so that tests decide what time it is. Must never know what is waited for.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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

/// Rounded up to a whole millisecond, so that a wait until then never ends early; at most
/// [`Timestamp::MAX`].
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Self(0).saturating_add(since),
            Err(before) => {
                let millis = i64::try_from(before.duration().as_millis());
                Self(millis.map_or(i64::MIN, |millis| -millis))
            }
        }
    }
}

impl From<Timestamp> for SystemTime {
    fn from(time: Timestamp) -> Self {
        let since = Duration::from_millis(time.0.unsigned_abs());
        let system = if time.0 < 0 {
            UNIX_EPOCH.checked_sub(since)
        } else {
            UNIX_EPOCH.checked_add(since)
        };
        system.expect("64-bit seconds hold every count of milliseconds")
    }
}

/// A future that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The source of time for one Skail.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// What time it is.
    fn now(&self) -> Timestamp;

    /// Resolves when [`now`](Clock::now) has reached `due`. Never early.
    fn sleep_until(&self, due: Timestamp) -> BoxFuture<'static, ()>;

    /// Says that work is going on which needs no passing of time, until the guard is dropped. A virtual
    /// clock stands still meanwhile; a real one does not care.
    fn working(&self) -> WorkGuard {
        WorkGuard(None)
    }

    /// Resolves when a body that has not ended by then may be taken to wait for time to pass; `None` on a
    /// clock that passes by itself.
    fn settle(&self) -> Option<BoxFuture<'static, ()>> {
        None
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

/// A wall clock that never runs backwards within one process.
///
/// A step back of the machine's clock (a time server's correction, an operator's hand) would make every
/// wait longer by that step, or a retry due in half a second due in an hour. So time goes on by the
/// monotonic clock from an anchor, and only a wall clock that is ahead of it (the machine slept, the clock
/// was set forward) moves the anchor. A process that starts later goes by the wall clock again.
#[derive(Debug)]
struct Steady {
    wall: i64,
    monotonic: std::time::Instant,
}

impl Steady {
    fn now(&mut self, wall: i64, monotonic: std::time::Instant) -> Timestamp {
        let passed = monotonic
            .saturating_duration_since(self.monotonic)
            .as_millis();
        let steady = self
            .wall
            .saturating_add(i64::try_from(passed).unwrap_or(i64::MAX));
        if wall <= steady {
            return Timestamp(steady);
        }
        *self = Self { wall, monotonic };
        Timestamp(wall)
    }
}

/// The machine's clock, but never running backwards while the process lives: a step back is waited out
/// by the monotonic clock, a step forward is followed.
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
        static STEADY: Mutex<Option<Steady>> = Mutex::new(None);
        let wall = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            // A machine whose clock stands before 1970: time is 0 until somebody sets it.
            Err(_) => 0,
        };
        let monotonic = std::time::Instant::now();
        let mut steady = STEADY.lock().unwrap_or_else(PoisonError::into_inner);
        let steady = steady.get_or_insert(Steady { wall, monotonic });
        steady.now(wall, monotonic)
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Steady, Timestamp};

    #[test]
    #[allow(
        clippy::disallowed_methods,
        reason = "any point on the monotonic clock will do"
    )]
    fn a_clock_that_is_set_back_does_not_make_waits_longer_and_one_set_forward_is_followed() {
        let start = Instant::now();
        let hour = 3_600_000;
        let mut steady = Steady {
            wall: 10 * hour,
            monotonic: start,
        };
        let second = start + Duration::from_secs(1);
        assert_eq!(
            steady.now(9 * hour, second),
            Timestamp::from_millis(10 * hour + 1_000)
        );
        assert_eq!(
            steady.now(34 * hour, second),
            Timestamp::from_millis(34 * hour)
        );
        let minute = second + Duration::from_secs(60);
        assert_eq!(
            steady.now(10 * hour, minute),
            Timestamp::from_millis(34 * hour + 60_000)
        );
    }

    #[test]
    fn arithmetic_at_the_ends_of_time_saturates() {
        let end = Timestamp::MAX.saturating_add(Duration::MAX);
        assert_eq!(end, Timestamp::MAX);
        let before = Timestamp::from_millis(i64::MIN);
        assert_eq!(before.saturating_since(end), Duration::ZERO);
        let soon = Timestamp::from_millis(0).saturating_add(Duration::from_nanos(1));
        assert_eq!(soon, Timestamp::from_millis(1));
    }
}
