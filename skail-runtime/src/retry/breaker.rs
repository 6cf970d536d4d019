//! The settings of a circuit breaker.
//!
//! Owns their defaults and which of them cannot work. What they do is in [`circuit`](super::circuit).

use std::time::Duration;

use super::InvalidSetting;

/// When a dependency counts as down, and how it is found to be up again.
///
/// Closed: calls go through. It opens when at least `failure_per_mille` of the calls in the window have
/// failed, of `minimum_calls` or more; or when `in_a_row` calls fail one after the other, because a window
/// full of successes from before an outage would take half its span to say so. Open: calls wait. After
/// `cool_down`, and up to a fifth more, it is half-open: `probes` calls go through, and their results decide
/// whether it closes or opens again. Each time that it opens again without having closed, the cool-down is
/// twice as long, up to `longest_cool_down`: a probe that fails costs the one who made it an attempt.
///
/// What waited while it was open comes back in steps, see [`Circuit`](super::Circuit).
///
/// ```
/// use std::time::Duration;
/// use skail_runtime::retry::Breaker;
///
/// let patient = Breaker::new().last_calls(200).cool_down(Duration::from_secs(30));
/// assert!(patient.check().is_ok());
/// assert_eq!(Breaker::new().probes(0).check().unwrap_err().setting, "probes");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a breaker does something once a dependency has it"]
pub struct Breaker {
    pub(super) failure_per_mille: u32,
    pub(super) minimum_calls: u32,
    pub(super) in_a_row: u32,
    pub(super) window: Span,
    pub(super) cool_down: Duration,
    pub(super) longest_cool_down: Duration,
    pub(super) probes: u32,
    pub(super) probe_patience: Duration,
    pub(super) slow_after: Option<Duration>,
}

/// Over which calls the failures are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Span {
    Time(Duration),
    Calls(u32),
}

/// The most calls that a window by count remembers.
const MOST_CALLS: u32 = 100_000;

impl Breaker {
    /// Opens when half of at least 10 calls in the last 10 s failed, or 10 in a row; 5 s of cool-down, then
    /// 10, 20, 40 and 60 s; 3 probes, of which 2 decide; calls may be slow.
    pub const DEFAULT: Self = Self {
        failure_per_mille: 500,
        minimum_calls: 10,
        in_a_row: 10,
        window: Span::Time(Duration::from_secs(10)),
        cool_down: Duration::from_secs(5),
        longest_cool_down: Duration::from_secs(60),
        probes: 3,
        probe_patience: Duration::from_secs(60),
        slow_after: None,
    };

    /// [`Breaker::DEFAULT`], to be changed.
    pub const fn new() -> Self {
        Self::DEFAULT
    }

    /// How many of a thousand calls have to fail: 1 to 1,000.
    pub const fn failure_per_mille(mut self, failures: u32) -> Self {
        self.failure_per_mille = failures;
        self
    }

    /// How many calls there have to be before their failures mean anything: 1 or more, and with
    /// [`last_calls`](Self::last_calls) no more than that.
    pub const fn minimum_calls(mut self, calls: u32) -> Self {
        self.minimum_calls = calls;
        self
    }

    /// How many calls that fail one after the other open it, whatever else is in the window: 1 or more.
    pub const fn in_a_row(mut self, calls: u32) -> Self {
        self.in_a_row = calls;
        self
    }

    /// Counts the calls of the last span of time: 1 s or more.
    pub const fn last(mut self, span: Duration) -> Self {
        self.window = Span::Time(span);
        self
    }

    /// Counts the last `calls` calls, however long ago: for a dependency that is called rarely. At most
    /// 100,000.
    pub const fn last_calls(mut self, calls: u32) -> Self {
        self.window = Span::Calls(calls);
        self
    }

    /// How long it stays open before it tries again: 1 ms or more. Up to a fifth is added at random, so
    /// that many processes do not try together.
    pub const fn cool_down(mut self, time: Duration) -> Self {
        self.cool_down = time;
        self
    }

    /// The longest cool-down of a long outage, before the fifth is added. One that is not above
    /// [`cool_down`](Self::cool_down) keeps that from growing.
    pub const fn longest_cool_down(mut self, time: Duration) -> Self {
        self.longest_cool_down = time;
        self
    }

    /// How many calls try it: 1 or more.
    pub const fn probes(mut self, calls: u32) -> Self {
        self.probes = calls;
        self
    }

    /// After what time without a result further probes are let through: 1 ms or more. Longer than the
    /// longest call that can succeed.
    pub const fn probe_patience(mut self, time: Duration) -> Self {
        self.probe_patience = time;
        self
    }

    /// Counts a call that took this long or longer as failed, whatever its result: 1 ms or more.
    pub const fn slow_after(mut self, time: Duration) -> Self {
        self.slow_after = Some(time);
        self
    }

    /// Whether this can work.
    ///
    /// # Errors
    /// [`InvalidSetting`] names what cannot work.
    pub fn check(&self) -> Result<(), InvalidSetting> {
        let refuse = |setting, reason| Err(InvalidSetting::new(setting, reason));
        let moment = Duration::from_millis(1);
        if !(1..=1_000).contains(&self.failure_per_mille) {
            return refuse("failure_per_mille", "it must be from 1 to 1,000");
        }
        if self.minimum_calls == 0 {
            return refuse("minimum_calls", "it must be at least 1");
        }
        if self.in_a_row == 0 {
            return refuse("in_a_row", "it must be at least 1");
        }
        match self.window {
            Span::Time(span) if span < Duration::from_secs(1) => {
                return refuse("last", "it must be at least 1 s");
            }
            Span::Calls(calls) if !(1..=MOST_CALLS).contains(&calls) => {
                return refuse("last_calls", "it must be from 1 to 100,000");
            }
            Span::Calls(calls) if calls < self.minimum_calls => {
                let reason =
                    "so many calls are never remembered: it must not be above `last_calls`";
                return refuse("minimum_calls", reason);
            }
            Span::Time(_) | Span::Calls(_) => {}
        }
        if self.probes == 0 {
            return refuse("probes", "without one it would never close: at least 1");
        }
        if self.cool_down < moment {
            return refuse("cool_down", "it must be at least 1 ms");
        }
        if self.probe_patience < moment {
            return refuse("probe_patience", "it must be at least 1 ms");
        }
        if self.slow_after.is_some_and(|time| time < moment) {
            return refuse("slow_after", "every call would be slow: at least 1 ms");
        }
        Ok(())
    }
}

impl Default for Breaker {
    fn default() -> Self {
        Self::DEFAULT
    }
}
