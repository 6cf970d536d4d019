//! A clock whose time passes only when there is nothing else to do.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::clock::{BoxFuture, Clock, Timestamp, WorkGuard};

/// How long, in real time, a body with a timeout is taken to work before the clock may jump to its
/// timeout. Long for a body that does something, short for a test.
const PATIENCE: Duration = Duration::from_millis(50);

/// How long, in real time, a test waits for what should come at once.
const LONGEST: Duration = Duration::from_secs(60);

/// What comes of `future`, unless it takes a minute of real time.
pub(super) async fn in_real_time<F: Future>(future: F) -> Option<F::Output> {
    tokio::time::timeout(LONGEST, future).await.ok()
}

/// A clock for tests: when everything waits for time to pass, it jumps to the next due time, so that a
/// wait of a month takes no time at all. While anything works (a function is polled, a body runs, a
/// commit is under way) it stands still.
///
/// A command that waits for something real, a socket for instance, counts as working until it ends. One
/// with a timeout counts for 50 ms of real time, and then the clock may jump to its timeout: give such
/// commands no timeout under this clock, or use the real one. (This needs a tokio runtime with its timer
/// enabled, as `#[tokio::test]` has it.)
///
/// ```
/// use std::time::Duration;
/// use skail_runtime::clock::Clock as _;
/// use skail_runtime::testing::VirtualClock;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let clock = VirtualClock::new();
/// let month = Duration::from_secs(30 * 24 * 3600);
/// let due = clock.now().saturating_add(month);
/// clock.sleep_until(due).await;
/// assert_eq!(clock.now(), due);
/// # }
/// ```
#[derive(Clone)]
pub struct VirtualClock(Arc<Mutex<State>>);

struct State {
    now: Timestamp,
    working: usize,
    sleepers: BTreeMap<(Timestamp, u64), Sleeper>,
    next_sleeper: u64,
}

#[derive(Default)]
struct Sleeper {
    woken: bool,
    waker: Option<Waker>,
}

impl VirtualClock {
    /// A clock that stands at 2026-01-01T00:00:00Z.
    #[must_use]
    pub fn new() -> Self {
        Self::at(Timestamp::from_millis(1_767_225_600_000))
    }

    /// A clock that stands at `now`.
    #[must_use]
    pub fn at(now: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(State {
            now,
            working: 0,
            sleepers: BTreeMap::new(),
            next_sleeper: 0,
        })))
    }

    /// Moves the clock, forwards or backwards, as an operator or a time server would; `millis` may be
    /// negative.
    pub fn step(&self, millis: i64) {
        let mut state = self.lock();
        state.now = Timestamp::from_millis(state.now.as_millis().saturating_add(millis));
        let wakers = state.wake_due();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// How long after `start` it is.
    #[must_use]
    pub fn since(&self, start: Timestamp) -> Duration {
        self.now().saturating_since(start)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work_ended(&self) {
        let wakers = {
            let mut state = self.lock();
            state.working -= 1;
            state.jump()
        };
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl State {
    /// If all wait, time passes until the first of them is due.
    fn jump(&mut self) -> Vec<Waker> {
        let next = self.sleepers.iter().find(|(_, sleeper)| !sleeper.woken);
        let Some((&(due, _), _)) = next.filter(|_| self.working == 0) else {
            return Vec::new();
        };
        self.now = self.now.max(due);
        self.wake_due()
    }

    /// Those who are woken work until they have been polled and dropped.
    fn wake_due(&mut self) -> Vec<Waker> {
        let mut wakers = Vec::new();
        for sleeper in self
            .sleepers
            .range_mut(..=(self.now, u64::MAX))
            .map(|(_, sleeper)| sleeper)
        {
            if !sleeper.woken {
                sleeper.woken = true;
                self.working += 1;
                wakers.extend(sleeper.waker.take());
            }
        }
        wakers
    }
}

impl Default for VirtualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for VirtualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("VirtualClock")
            .field("now", &state.now)
            .field("working", &state.working)
            .field("sleepers", &state.sleepers.len())
            .finish()
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        self.lock().now
    }

    /// The wait counts from the call on and not from the first poll: who makes it and then lets a guard
    /// go is waiting, and the clock must not pass by what it waits for. One that is over when it is made
    /// counts as work, like one that is woken.
    fn sleep_until(&self, due: Timestamp) -> BoxFuture<'static, ()> {
        let mut state = self.lock();
        let key = (due, state.next_sleeper);
        let over = due <= state.now;
        state.next_sleeper += 1;
        state.working += usize::from(over);
        let sleeper = Sleeper {
            woken: over,
            waker: None,
        };
        state.sleepers.insert(key, sleeper);
        drop(state);
        Box::pin(Sleep {
            clock: self.clone(),
            due,
            key,
            polled: over,
        })
    }

    #[allow(clippy::disallowed_methods, reason = "real time is what is meant")]
    fn settle(&self) -> Option<BoxFuture<'static, ()>> {
        Some(Box::pin(tokio::time::sleep(PATIENCE)))
    }

    fn working(&self) -> WorkGuard {
        self.lock().working += 1;
        let clock = self.clone();
        WorkGuard::new(move || clock.work_ended())
    }
}

/// One wait. Once woken it counts as work until it is dropped, so that the clock does not jump on before
/// the one who waited has said that it works.
struct Sleep {
    clock: VirtualClock,
    due: Timestamp,
    key: (Timestamp, u64),
    polled: bool,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let clock = self.clock.clone();
        let mut state = clock.lock();
        let now = state.now;
        let Some(sleeper) = state.sleepers.get_mut(&self.key) else {
            return Poll::Ready(());
        };
        if sleeper.woken && self.due <= now {
            if std::mem::replace(&mut self.polled, true) {
                return Poll::Ready(());
            }
            // However fast time passes, others get their turn meanwhile.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.polled = true;
        sleeper.waker = Some(cx.waker().clone());
        if sleeper.woken {
            // The clock was set back in between: it has not come yet after all.
            sleeper.woken = false;
            state.working -= 1;
        }
        let wakers = state.jump();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let mut state = self.clock.lock();
        let woken = state
            .sleepers
            .remove(&self.key)
            .is_some_and(|sleeper| sleeper.woken);
        drop(state);
        if woken {
            self.clock.work_ended();
        }
    }
}
