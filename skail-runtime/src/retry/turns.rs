//! When those who wait for the same thing look again.
//!
//! Owns the order of turns: each who has to wait gets the next point of time at which one more may go, so
//! that a thousand waiting ones neither come together nor ask a thousand times. Must never promise
//! anything: a turn is when to ask, not a right.

use std::time::Duration;

use crate::clock::Timestamp;

/// The longest wait for a turn: who has to wait for longer asks in between, because things may have
/// changed.
const LONGEST: Duration = Duration::from_secs(5 * 60);

/// The point up to which turns are given out.
#[derive(Debug, Clone)]
pub(super) struct Turns {
    /// Where the next turn is, in microseconds since 1970.
    next: i64,
}

impl Turns {
    pub(super) const fn new() -> Self {
        Self { next: i64::MIN }
    }

    /// The next turn at or after `from`, where `rate` may go in each `span`.
    pub(super) fn take(&mut self, from: Timestamp, rate: u64, span: Duration) -> Timestamp {
        let begin = micros(from);
        let turn = self.next.max(begin);
        let span_of_turns = i64::try_from(LONGEST.as_micros()).unwrap_or(i64::MAX);
        // Those who would wait for longer are spread over the time in which the others come.
        let told = begin.saturating_add(turn.saturating_sub(begin) % span_of_turns);
        let gap = span.as_micros() / u128::from(rate.max(1));
        self.next = turn.saturating_add(i64::try_from(gap).unwrap_or(i64::MAX));
        // Rounded up, so that nobody comes before what he waits for.
        Timestamp::from_millis(told.saturating_add(999).div_euclid(1_000)).max(from)
    }

    /// The second of the next turn, counted from `from`.
    pub(super) fn seconds_after(&self, from: Timestamp) -> u64 {
        let ahead = self.next.saturating_sub(micros(from));
        u64::try_from(ahead / 1_000_000).unwrap_or(0)
    }

    /// Whether turns are given out that have not come yet.
    pub(super) fn any_after(&self, now: Timestamp) -> bool {
        self.next > micros(now)
    }
}

fn micros(at: Timestamp) -> i64 {
    at.as_millis().saturating_mul(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn turns_follow_one_another_at_the_rate_and_none_is_early_or_centuries_away() {
        let mut turns = Turns::new();
        let second = Duration::from_secs(1);
        let taken: Vec<i64> = (0..6)
            .map(|_| turns.take(at(500), 4, second).as_millis())
            .collect();
        assert_eq!(taken, [500, 750, 1_000, 1_250, 1_500, 1_750]);
        let most = at(2_000).saturating_add(LONGEST);
        let mut told: Vec<Timestamp> = (0..10_000)
            .map(|_| turns.take(at(2_000), 4, second))
            .collect();
        told.sort();
        assert!(told[0] >= at(2_000) && told[9_999] < most);
        // 250 ms apart, so some 8 at a time over the five minutes, and nowhere a crowd.
        let crowd = told.chunk_by(|one, other| one == other).map(<[_]>::len);
        assert!(crowd.max() <= Some(9));
        assert_eq!(turns.take(Timestamp::MAX, 0, Duration::MAX), Timestamp::MAX);
    }
}
