//! The wait before the next attempt.

use std::time::Duration;

/// How a delay is spread, so that many executions that failed together do not come back together.
///
/// Formulas after M. Brooker, "Exponential Backoff And Jitter" (AWS, 2015), with
/// `v = min(cap, base * factor^n)`, n = 0 for the first retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Jitter {
    /// `random(0, v)`: the least work for the one that is called. The default.
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
/// Exact at any attempt number: no overflow, no NaN, and never more than the cap, jitter included.
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
    /// [`InvalidBackoff`] names the part: a base of zero (a loop without a pause), a factor that is not
    /// at least 1, a cap below the base.
    pub fn new(
        base: Duration,
        factor: f64,
        cap: Duration,
        jitter: Jitter,
    ) -> Result<Self, InvalidBackoff> {
        if base.is_zero() {
            return Err(InvalidBackoff {
                part: "base",
                reason: "it must be longer than zero",
            });
        }
        if !(factor.is_finite() && factor >= 1.0) {
            return Err(InvalidBackoff {
                part: "factor",
                reason: "it must be a number of at least 1",
            });
        }
        if cap < base {
            return Err(InvalidBackoff {
                part: "cap",
                reason: "it must not be below the base",
            });
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

    /// The delay before retry number `n` (0 for the first).
    ///
    /// `previous` is the delay before that (only decorrelated jitter asks), `random` a number from
    /// `[0, 1)`; anything else counts as 0.
    #[must_use]
    pub fn delay(&self, n: u32, previous: Option<Duration>, random: f64) -> Duration {
        let random = if (0.0..1.0).contains(&random) {
            random
        } else {
            0.0
        };
        let cap = self.cap.as_secs_f64();
        let base = self.base.as_secs_f64();
        // Infinite for large n, which `min` turns into the cap; NaN is impossible, since base > 0 and
        // factor >= 1.
        let ceiling = (base * self.factor.powf(f64::from(n))).min(cap);
        let seconds = match self.jitter {
            Jitter::None => ceiling,
            Jitter::Full => ceiling * random,
            Jitter::Equal => ceiling / 2.0 + ceiling / 2.0 * random,
            Jitter::Decorrelated => {
                let previous = previous.unwrap_or(self.base).max(self.base).as_secs_f64();
                let spread = (previous * 3.0).min(cap) - base;
                base + spread.max(0.0) * random
            }
        };
        Duration::try_from_secs_f64(seconds)
            .unwrap_or(self.cap)
            .min(self.cap)
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A backoff that could not wait sensibly.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this backoff cannot be used: `{part}`: {reason}")]
pub struct InvalidBackoff {
    /// The name of the part.
    pub part: &'static str,
    reason: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    const JITTERS: [Jitter; 4] = [
        Jitter::Full,
        Jitter::Equal,
        Jitter::Decorrelated,
        Jitter::None,
    ];

    #[test]
    fn no_attempt_number_and_no_draw_leaves_the_bounds() {
        for jitter in JITTERS {
            let backoff = Backoff::DEFAULT.with_jitter(jitter);
            for n in [0, 1, 31, 32, 33, 63, 64, 65, 1_023, 1_024, 5_000, u32::MAX] {
                for random in [0.0, 0.25, 0.999_999, f64::NAN, -1.0, 7.0] {
                    let delay = backoff.delay(n, Some(Duration::MAX), random);
                    assert!(
                        delay <= backoff.cap(),
                        "{jitter:?} n={n} random={random}: {delay:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn full_jitter_keeps_half_the_cap_on_average_after_thousands_of_failures() {
        let mut random = fastrand::Rng::with_seed(7);
        let total: f64 = (4_000..5_000)
            .map(|n| Backoff::DEFAULT.delay(n, None, random.f64()).as_secs_f64())
            .sum();
        let mean = total / 1_000.0;
        assert!((14.0..16.0).contains(&mean), "mean {mean}");
    }

    #[test]
    fn equal_jitter_never_waits_less_than_half() {
        let backoff = Backoff::DEFAULT.with_jitter(Jitter::Equal);
        assert_eq!(backoff.delay(3, None, 0.0), Duration::from_secs(2));
    }

    #[test]
    fn decorrelated_jitter_grows_from_what_came_before() {
        let backoff = Backoff::DEFAULT.with_jitter(Jitter::Decorrelated);
        assert_eq!(backoff.delay(0, None, 0.0), Duration::from_millis(500));
        let next = backoff.delay(1, Some(Duration::from_secs(2)), 0.999_999);
        assert!(next > Duration::from_millis(5_999) && next <= Duration::from_secs(6));
    }

    #[test]
    fn settings_that_cannot_wait_are_refused_by_name() {
        let second = Duration::from_secs(1);
        let part = |base, factor, cap| {
            Backoff::new(base, factor, cap, Jitter::Full)
                .expect_err("it must be refused")
                .part
        };
        assert_eq!(part(Duration::ZERO, 2.0, second), "base");
        assert_eq!(part(second, f64::NAN, second), "factor");
        assert_eq!(part(second, 0.5, second), "factor");
        assert_eq!(part(second, 2.0, Duration::from_millis(1)), "cap");
    }
}
