//! How many retries a dependency is sent, so that an outage does not become a storm.
//!
//! Owns the account of first attempts and retries. Pure: time is passed in; must never wait or know who
//! asks.

use std::time::Duration;

use super::InvalidSetting;
use super::turns::Turns;
use super::window::{SLOTS, Window};
use crate::clock::Timestamp;

/// How many retries a dependency may be sent beside its first attempts: in every window as many as a
/// share of the first attempts in it, or a floor if that is more, spread evenly over the window.
///
/// `retries in the last W <= max(share * first attempts in the last W, floor * W)`, after Finagle's
/// budget: what earns is each first attempt, not each success, or nothing could be tried again in an
/// outage. First attempts are never held. A tenth of the window takes a tenth of the budget: a
/// budget that was saved up and then spent in one second would be a storm of one second.
///
/// The floor is a least and not an addition, which is where this differs from Finagle and those who
/// followed it. It is for what is called rarely; added, it would break the promise of the share where it
/// matters: ten processes that make 100 calls a second each, with 10 % and 10 per second more, would
/// send a fifth more than usual and not a tenth.
///
/// ```
/// use std::time::Duration;
/// use skail_runtime::retry::Budget;
///
/// assert_eq!(
///     Budget::DEFAULT,
///     Budget::new().per_mille(100).floor_per_second(10).window(Duration::from_secs(10)),
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a budget does something once a dependency has it"]
pub struct Budget {
    per_mille: u32,
    floor_per_second: u32,
    window: Duration,
}

impl Budget {
    /// 10 % of the first attempts in the last 10 s, and at least 10 retries per second.
    pub const DEFAULT: Self = Self {
        per_mille: 100,
        floor_per_second: 10,
        window: Duration::from_secs(10),
    };

    /// [`Budget::DEFAULT`], to be changed.
    pub const fn new() -> Self {
        Self::DEFAULT
    }

    /// How many retries a thousand first attempts allow: 0 to 1,000.
    pub const fn per_mille(mut self, retries: u32) -> Self {
        self.per_mille = retries;
        self
    }

    /// How many retries per second are allowed however few first attempts there are: at least 1, or the
    /// one execution that there is could wait for ever.
    pub const fn floor_per_second(mut self, retries: u32) -> Self {
        self.floor_per_second = retries;
        self
    }

    /// The span of time over which both are counted: 1 s or more.
    pub const fn window(mut self, window: Duration) -> Self {
        self.window = window;
        self
    }

    /// Whether this can work.
    ///
    /// # Errors
    /// [`InvalidSetting`] names what cannot work.
    pub fn check(&self) -> Result<(), InvalidSetting> {
        if self.per_mille > 1_000 {
            let reason = "more retries than first attempts are no budget: at most 1,000";
            return Err(InvalidSetting::new("per_mille", reason));
        }
        if self.floor_per_second == 0 {
            let reason =
                "without one nothing could be tried again while nothing new comes: at least 1";
            return Err(InvalidSetting::new("floor_per_second", reason));
        }
        if self.window < Duration::from_secs(1) {
            return Err(InvalidSetting::new("window", "it must be at least 1 s"));
        }
        Ok(())
    }

    /// The floor of one window.
    fn floor(&self) -> u64 {
        let floor = u128::from(self.floor_per_second) * self.window.as_millis() / 1_000;
        u64::try_from(floor).unwrap_or(u64::MAX).max(1)
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::DEFAULT
    }
}

const FIRST: usize = 0;
const RETRY: usize = 1;

/// The account of one dependency under a [`Budget`].
///
/// ```
/// use std::time::Duration;
/// use skail_runtime::clock::Timestamp;
/// use skail_runtime::retry::{Budget, Ledger};
///
/// let budget = Budget::new().per_mille(100).floor_per_second(1).window(Duration::from_secs(10));
/// let mut ledger = Ledger::new(budget)?;
/// let now = Timestamp::from_millis(0);
/// // One retry per second is always allowed; the next one is told when to ask again.
/// assert_eq!(ledger.retry(now, false), Ok(()));
/// assert_eq!(ledger.retry(now, false), Err(Timestamp::from_millis(1_000)));
/// // A thousand first attempts allow a hundred retries in ten seconds.
/// (0..1_000).for_each(|_| ledger.first(now));
/// assert_eq!((0..1_000).filter(|_| ledger.retry(now, true).is_ok()).count(), 10 - 1);
/// # Ok::<(), skail_runtime::retry::InvalidSetting>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ledger {
    budget: Budget,
    floor: u64,
    window: Window<2>,
    turns: Turns,
}

impl Ledger {
    /// An empty account.
    ///
    /// # Errors
    /// [`InvalidSetting`] names what cannot work.
    pub fn new(budget: Budget) -> Result<Self, InvalidSetting> {
        budget.check()?;
        Ok(Self {
            budget,
            floor: budget.floor(),
            window: Window::new(budget.window),
            turns: Turns::new(),
        })
    }

    /// A first attempt starts.
    pub fn first(&mut self, now: Timestamp) {
        self.window.advance(now);
        self.window.add(FIRST);
    }

    /// A retry asks to start; `waited` if it asked before and was told to wait.
    ///
    /// # Errors
    /// When to ask again. Of many who wait, each is told another time, in the order in which they asked;
    /// while there are some, those who have not waited get at most half.
    pub fn retry(&mut self, now: Timestamp, waited: bool) -> Result<(), Timestamp> {
        self.window.advance(now);
        let share = self.share();
        // The window holds up to a slot more than its span.
        let pace = share.div_ceil(SLOTS + 1);
        let ahead = !waited && self.turns.any_after(now);
        let mine = if ahead { pace / 2 } else { pace };
        if self.window.now(RETRY) < mine && self.window.total(RETRY) < share {
            self.window.add(RETRY);
            return Ok(());
        }
        let next = self.window.next_slot();
        Err(self.turns.take(next, pace, self.window.width()))
    }

    /// A retry that was allowed did not start after all: another may. One that was allowed in an earlier
    /// tenth of the window is not given back; it leaves the window with the rest.
    pub fn returned(&mut self) {
        self.window.remove(RETRY);
    }

    /// How many retries this window allows, spent or not.
    fn share(&self) -> u64 {
        let first = self.window.total(FIRST);
        let earned = u128::from(first) * u128::from(self.budget.per_mille) / 1_000;
        u64::try_from(earned).unwrap_or(u64::MAX).max(self.floor)
    }

    /// How many of the window's retries are left.
    #[must_use]
    pub fn left(&mut self, now: Timestamp) -> u64 {
        self.window.advance(now);
        self.share().saturating_sub(self.window.total(RETRY))
    }
}
