//! The wait before the next attempt.
//!
//! Owns the formulas and their bounds. Must never draw a random number or read a clock: both are passed
//! in, so that a delay can be computed again.

use std::time::Duration;

use super::InvalidSetting;

/// How a delay is spread, so that many executions that failed together do not come back together.
///
/// Formulas after M. Brooker, "Exponential Backoff And Jitter" (AWS, 2015), with
/// `v = min(cap, base * factor^n)`, n = 0 for the first retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Jitter {
    /// `random(0, v)`, and never 0: the least work for the one that is called. The default.
    Full,
    /// `v/2 + random(0, v/2)`: never less than half.
    Equal,
    /// `min(cap, random(base, 3 * previous delay))`, the first one drawn as if `base` came before.
    Decorrelated,
    /// `v`: for tests, and for the one client that there is.
    None,
}

/// Exponential backoff: the delay before attempt 2, 3, 4 …
///
/// Exact at any attempt number: no overflow, no NaN, never zero, and never more than the cap, jitter
/// included.
///
/// ```
/// use std::time::Duration;
/// use skail_runtime::retry::{Backoff, Jitter};
///
/// let backoff = Backoff::DEFAULT.with_jitter(Jitter::None);
/// let delays: Vec<u64> = (0..8).map(|n| backoff.delay(n, None, 0.5).as_millis() as u64).collect();
/// assert_eq!(delays, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
/// assert_eq!(backoff.delay(u32::MAX, None, 0.5), Duration::from_secs(30));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backoff {
    base: Duration,
    factor: f64,
    cap: Duration,
    jitter: Jitter,
}

impl Backoff {
    /// Base 500 ms, factor 2, cap 30 s, full jitter.
    pub const DEFAULT: Self = Self {
        base: Duration::from_millis(500),
        factor: 2.0,
        cap: Duration::from_secs(30),
        jitter: Jitter::Full,
    };

    /// A backoff from its parts.
    ///
    /// # Errors
    /// [`InvalidSetting`] names the part: a base of zero (a loop without a pause), a factor that is not
    /// at least 1, a cap below the base.
    pub fn new(
        base: Duration,
        factor: f64,
        cap: Duration,
        jitter: Jitter,
    ) -> Result<Self, InvalidSetting> {
        if base.is_zero() {
            return Err(InvalidSetting::new("base", "it must be longer than zero"));
        }
        if !(factor.is_finite() && factor >= 1.0) {
            let reason = "it must be a number of at least 1";
            return Err(InvalidSetting::new("factor", reason));
        }
        if cap < base {
            return Err(InvalidSetting::new("cap", "it must not be below the base"));
        }
        Ok(Self {
            base,
            factor,
            cap,
            jitter,
        })
    }

    /// What the attributes write, after they checked the same rules.
    #[doc(hidden)]
    #[must_use]
    pub const fn checked_by_the_attribute(
        base: Duration,
        factor: f64,
        cap: Duration,
        jitter: Jitter,
    ) -> Self {
        Self {
            base,
            factor,
            cap,
            jitter,
        }
    }

    /// The same with another jitter.
    #[must_use]
    pub const fn with_jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = jitter;
        self
    }

    /// The longest delay.
    #[must_use]
    pub const fn cap(&self) -> Duration {
        self.cap
    }

    /// The shortest ceiling: the wait before the first retry, without jitter.
    #[must_use]
    pub const fn base(&self) -> Duration {
        self.base
    }

    /// The delay before retry number `n` (0 for the first): longer than zero, at most the cap.
    ///
    /// `previous` is the delay before that (only decorrelated jitter asks), `random` a number from
    /// `[0, 1)`. A `random` that is none waits for as long as the jitter may: a broken source of
    /// randomness must not become a loop without a pause.
    #[must_use]
    pub fn delay(&self, n: u32, previous: Option<Duration>, random: f64) -> Duration {
        let share = if (0.0..1.0).contains(&random) {
            // From (0, 1]: no delay is empty, and the mean is the same.
            1.0 - random
        } else {
            1.0
        };
        let cap = self.cap.as_secs_f64();
        let base = self.base.as_secs_f64();
        // Infinite for large n, which `min` turns into the cap; NaN is impossible, since base > 0 and
        // factor >= 1.
        let ceiling = (base * self.factor.powf(f64::from(n))).min(cap);
        let seconds = match self.jitter {
            Jitter::None => ceiling,
            Jitter::Full => ceiling * share,
            Jitter::Equal => ceiling / 2.0 + ceiling / 2.0 * share,
            Jitter::Decorrelated => {
                let previous = previous.unwrap_or(self.base).max(self.base).as_secs_f64();
                base + (previous * 3.0 - base) * share
            }
        };
        Duration::try_from_secs_f64(seconds)
            .unwrap_or(self.cap)
            .clamp(SHORTEST.min(self.cap), self.cap)
    }
}

/// What a delay is at least, however small base and draw are. The clock rounds it up to a millisecond.
const SHORTEST: Duration = Duration::from_nanos(1);

impl Default for Backoff {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_jitter_never_waits_less_than_half() {
        let backoff = Backoff::DEFAULT.with_jitter(Jitter::Equal);
        assert_eq!(
            backoff.delay(3, None, 0.999_999_999_999),
            Duration::from_secs(2)
        );
        assert_eq!(backoff.delay(3, None, 0.0), Duration::from_secs(4));
    }

    #[test]
    fn decorrelated_jitter_grows_from_what_came_before() {
        let backoff = Backoff::DEFAULT.with_jitter(Jitter::Decorrelated);
        let least = backoff.delay(0, None, 0.999_999_999_999);
        assert_eq!(least, Duration::from_millis(500));
        let next = backoff.delay(1, Some(Duration::from_secs(2)), 0.000_001);
        assert!(next > Duration::from_millis(5_999) && next <= Duration::from_secs(6));
    }

    #[test]
    fn settings_that_cannot_wait_are_refused_by_name() {
        let second = Duration::from_secs(1);
        let part = |base, factor, cap| {
            Backoff::new(base, factor, cap, Jitter::Full)
                .expect_err("it must be refused")
                .setting
        };
        assert_eq!(part(Duration::ZERO, 2.0, second), "base");
        assert_eq!(part(second, f64::NAN, second), "factor");
        assert_eq!(part(second, 0.5, second), "factor");
        assert_eq!(part(second, 2.0, Duration::from_millis(1)), "cap");
    }
}
