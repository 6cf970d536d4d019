//! How what waited for a dependency comes back once the dependency does.
//!
//! Owns the pace after a breaker has closed: a backlog that came back at once would be the next outage.
//! Must never hold a first attempt that did not wait.

use std::time::Duration;

use super::circuit::Caller;
use super::turns::Turns;
use super::window::{SLOTS, Window};
use crate::clock::Timestamp;

const SECOND: Duration = Duration::from_secs(1);

/// The least that the clock can tell apart.
const MOMENT: Duration = Duration::from_millis(1);

/// How long the load that was served before the outage is trusted to be all that can be served.
const TRUST: u64 = 120;

/// How often it is doubled after that, in seconds.
const DOUBLING: u64 = 60;

/// Lets in, second by second, no more than twice of what succeeded in the second before, and in all no
/// more than a tenth above the most that one second served before the outage. When it has gone well for
/// two minutes that bound is doubled every minute, so that no backlog waits for ever. As many as there
/// are probes may always enter.
#[derive(Debug, Clone)]
pub(super) struct Reentry {
    least: u64,
    successes: Window<1>,
    /// The most that succeeded in a second before the outage; 0 if nothing did.
    served: u64,
    pace: Option<Pace>,
    turns: Turns,
}

/// Since the breaker closed.
#[derive(Debug, Clone)]
struct Pace {
    since: Timestamp,
    second: u64,
    now: Second,
    before: Second,
}

#[derive(Debug, Clone, Copy, Default)]
struct Second {
    /// Attempts that never waited.
    fresh: u64,
    /// Retries, and what waited.
    entered: u64,
    succeeded: u64,
}

impl Pace {
    fn advance(&mut self, now: Timestamp) {
        let begun = self.since.saturating_add(SECOND * clamped(self.second));
        if begun.saturating_since(now) >= SECOND {
            // The clock was set back: the second that runs goes on, and not an hour later.
            let before = now.as_millis().saturating_sub(self.second_millis());
            self.since = Timestamp::from_millis(before);
        }
        let second = now.saturating_since(self.since).as_secs();
        if second > self.second {
            let next = second == self.second + 1;
            self.before = if next { self.now } else { Second::default() };
            self.now = Second::default();
            self.second = second;
        }
    }

    /// How long after the closing the second that runs began.
    fn second_millis(&self) -> i64 {
        i64::try_from(self.second.saturating_mul(1_000)).unwrap_or(i64::MAX)
    }

    /// How many may enter in this second.
    fn room(&self, top: u64, least: u64) -> u64 {
        let allowed = self
            .before
            .succeeded
            .saturating_mul(2)
            .clamp(least, top.max(least));
        let fresh = self.before.fresh.max(self.now.fresh);
        allowed.saturating_sub(fresh).max(least)
    }
}

impl Reentry {
    pub(super) fn new(probes: u32) -> Self {
        Self {
            least: u64::from(probes).max(1),
            successes: Window::new(SECOND * 10),
            served: 0,
            pace: None,
            turns: Turns::new(),
        }
    }

    /// A call succeeded.
    pub(super) fn succeeded(&mut self, now: Timestamp) {
        self.successes.advance(now);
        self.successes.add(0);
        if let Some(pace) = &mut self.pace {
            pace.advance(now);
            pace.now.succeeded += 1;
        }
    }

    /// The breaker opened.
    pub(super) fn opened(&mut self, now: Timestamp) {
        self.successes.advance(now);
        let served = self.successes.peak(0);
        let closed_for = self
            .pace
            .take()
            .map(|pace| now.saturating_since(pace.since));
        // One that opens again while it recovers has not shown all that it can.
        let recovering = closed_for.is_some_and(|time| time.as_secs() < SLOTS);
        self.served = if recovering {
            self.served.max(served)
        } else {
            served
        };
    }

    /// The breaker closed.
    pub(super) fn closed(&mut self, now: Timestamp) {
        self.pace = Some(Pace {
            since: now,
            second: 0,
            now: Second::default(),
            before: Second::default(),
        });
    }

    /// An attempt asks to enter while the breaker is closed.
    pub(super) fn enter(&mut self, now: Timestamp, caller: Caller) -> bool {
        let (least, served) = (self.least, self.served);
        let Some(pace) = &mut self.pace else {
            return true;
        };
        pace.advance(now);
        if caller == Caller::First {
            pace.now.fresh += 1;
            return true;
        }
        let room = pace.room(top(served, pace.second), least);
        // Evenly over the second, so that any second sees no more than that.
        let passed = now.saturating_since(pace.since).subsec_millis();
        let so_far = (u128::from(room) * u128::from(passed)).div_ceil(1_000);
        let enters = pace.now.entered < room && u128::from(pace.now.entered) <= so_far;
        pace.now.entered += u64::from(enters);
        enters
    }

    /// One that entered did not stay.
    pub(super) fn left(&mut self) {
        if let Some(pace) = &mut self.pace {
            pace.now.entered = pace.now.entered.saturating_sub(1);
        }
    }

    /// When one more may ask that found no room: in a second in which there will be some, if all goes
    /// well until then.
    pub(super) fn turn(&mut self, now: Timestamp) -> Timestamp {
        let Some(pace) = &self.pace else {
            return now;
        };
        let top = top(self.served, pace.second);
        let room = pace.room(top, self.least);
        if pace.now.entered < room {
            let gap = (SECOND / clamped(room)).max(MOMENT);
            return self.turns.take(now.saturating_add(gap), room, SECOND);
        }
        let next = pace.since.saturating_add(SECOND * clamped(pace.second + 1));
        let fresh = pace.before.fresh.max(pace.now.fresh);
        let base = pace.before.entered.max(pace.now.entered).max(self.least);
        self.doubling(next, base.saturating_mul(2), top.saturating_sub(fresh))
    }

    /// When one more may ask if the breaker is to be tried at `from`: as many as there are probes in the
    /// second after that, then twice as many every second.
    pub(super) fn turn_from(&mut self, from: Timestamp, caller: Caller) -> Timestamp {
        let most = top(self.served, 0).max(self.least);
        if let Caller::Retry { behind } = caller
            && behind > 0
        {
            // The seconds in which all of those have their turns.
            let doubling = u64::from((behind / self.least + 1).ilog2());
            let seconds = doubling.max(behind / most);
            return from.saturating_add(SECOND * clamped(seconds.max(1)));
        }
        self.doubling(from, self.least, most)
    }

    /// The next turn where `base` may go in the second after `from`, and twice as many in each one after
    /// that, up to `most`.
    fn doubling(&mut self, from: Timestamp, base: u64, most: u64) -> Timestamp {
        let seconds = clamped(self.turns.seconds_after(from)).min(u64::BITS);
        let rate = base.saturating_mul(1_u64.checked_shl(seconds).unwrap_or(u64::MAX));
        self.turns
            .take(from, rate.min(most).max(self.least), SECOND)
    }
}

/// The most that may go in one second, this long after the closing.
fn top(served: u64, seconds: u64) -> u64 {
    if served == 0 {
        return u64::MAX;
    }
    let top = served.saturating_add(served / 10);
    match seconds.checked_sub(TRUST) {
        None => top,
        Some(more) => {
            let doublings = clamped(more / DOUBLING + 1).min(u64::BITS - 1);
            top.saturating_mul(1 << doublings)
        }
    }
}

fn clamped(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    /// What enters in each second after the closing at 100 s, where `fresh` come anyway, more than
    /// enough want in, and all that enters succeeds.
    fn entered(reentry: &mut Reentry, seconds: i64, fresh: i64) -> Vec<u64> {
        reentry.closed(at(100_000));
        let mut per_second = Vec::new();
        for second in 0..seconds {
            let mut entered = 0;
            let begin = 100_000 + second * 1_000;
            for step in 0..1_000 {
                let now = at(begin + step);
                if step < fresh {
                    assert!(
                        reentry.enter(now, Caller::First),
                        "what did not wait is never held"
                    );
                    reentry.succeeded(now);
                }
                for _ in 0..10 {
                    if reentry.enter(now, Caller::Waited) {
                        entered += 1;
                        reentry.succeeded(now);
                    }
                }
            }
            per_second.push(entered);
        }
        per_second
    }

    #[test]
    fn a_backlog_doubles_every_second_where_nothing_is_known() {
        let mut reentry = Reentry::new(3);
        reentry.opened(at(90_000));
        assert_eq!(entered(&mut reentry, 6, 0), [3, 6, 12, 24, 48, 96]);
    }

    #[test]
    fn a_backlog_adds_a_tenth_to_what_was_served_before() {
        let mut reentry = Reentry::new(3);
        for second in 80..90 {
            for millis in 0..1_000 {
                reentry.succeeded(at(second * 1_000 + millis));
            }
        }
        reentry.opened(at(90_000));
        let entered_beside_1_000 = entered(&mut reentry.clone(), 6, 1_000);
        assert_eq!(entered_beside_1_000, [3, 100, 100, 100, 100, 100]);
        let alone = entered(&mut reentry, 12, 0);
        assert_eq!(alone[7..], [384, 768, 1_100, 1_100, 1_100]);
    }

    #[test]
    fn a_clock_that_is_set_back_holds_nobody_for_longer() {
        let mut reentry = Reentry::new(1);
        reentry.opened(at(90_000));
        reentry.closed(at(7_200_000));
        assert!(reentry.enter(at(7_200_000), Caller::Waited));
        reentry.succeeded(at(7_200_000));
        assert!(!reentry.enter(at(3_600_000), Caller::Waited));
        let turn = reentry.turn(at(3_600_000));
        assert!(turn <= at(3_602_000), "{turn:?}");
        assert!(reentry.enter(at(3_601_000), Caller::Waited));
    }

    #[test]
    fn a_bound_that_holds_for_minutes_is_lifted() {
        assert_eq!(top(100, TRUST - 1), 110);
        assert_eq!(top(100, TRUST), 220);
        assert_eq!(top(100, TRUST + DOUBLING), 440);
        assert_eq!(top(100, u64::MAX), u64::MAX);
    }

    #[test]
    fn an_outage_while_it_recovers_does_not_make_it_look_small() {
        let mut reentry = Reentry::new(1);
        (0..500).for_each(|_| reentry.succeeded(at(50_000)));
        reentry.opened(at(51_000));
        reentry.closed(at(80_000));
        reentry.succeeded(at(80_001));
        reentry.opened(at(81_000));
        assert_eq!(reentry.served, 500);
        reentry.closed(at(100_000));
        reentry.succeeded(at(115_000));
        reentry.opened(at(115_001));
        assert_eq!(reentry.served, 1, "after a while it is what it shows");
    }
}
