//! Counts over the last span of time.
//!
//! Owns the slots that make "the last ten seconds" cheap: ten and the one that runs, so that a count is
//! remembered for the span and up to a slot more. Must never cost more than a look at each slot, however
//! long nobody asked, and never mind a clock that is set back.

use std::time::Duration;

use crate::clock::Timestamp;

/// How many slots a span has, beside the one that runs.
pub(super) const SLOTS: u64 = 10;

const RING: usize = 11;

/// Counts of `KINDS` kinds of events.
#[derive(Debug, Clone)]
pub(super) struct Window<const KINDS: usize> {
    /// The length of a slot in milliseconds.
    width: i64,
    slots: [[u64; KINDS]; RING],
    totals: [u64; KINDS],
    /// The number of the running slot, counted from 1970: a slot begins where the clock says, and not
    /// where somebody happened to ask, so that no drift adds up.
    running: i64,
}

impl<const KINDS: usize> Window<KINDS> {
    pub(super) fn new(span: Duration) -> Self {
        let width = (span.as_millis() / u128::from(SLOTS)).max(1);
        Self {
            width: i64::try_from(width).unwrap_or(i64::MAX),
            slots: [[0; KINDS]; RING],
            totals: [0; KINDS],
            running: i64::MIN,
        }
    }

    /// Goes on to the slot of `now`. The slot before the running one counts as that: who looked at the
    /// clock first may come second. Earlier ones are those of a clock that was set back: what is counted
    /// stays counted, and ages by the new time.
    pub(super) fn advance(&mut self, now: Timestamp) {
        let ring = RING as i64;
        let slot = now.as_millis().div_euclid(self.width);
        let passed = slot.saturating_sub(self.running);
        if passed < -1 {
            let back = self.running.rem_euclid(ring) - slot.rem_euclid(ring);
            self.slots.rotate_left(back.rem_euclid(ring) as usize);
            self.running = slot;
            return;
        }
        if passed <= 0 {
            return;
        }
        // A slot per step, but never more than all of them.
        for step in 0..passed.min(ring) {
            let at = slot.saturating_sub(step).rem_euclid(ring);
            let cleared = std::mem::replace(&mut self.slots[at as usize], [0; KINDS]);
            for (total, count) in self.totals.iter_mut().zip(cleared) {
                *total = total.saturating_sub(count);
            }
        }
        self.running = slot;
    }

    fn running(&self) -> usize {
        self.running.rem_euclid(RING as i64) as usize
    }

    /// Counts one event in the running slot.
    pub(super) fn add(&mut self, kind: usize) {
        let running = self.running();
        self.slots[running][kind] = self.slots[running][kind].saturating_add(1);
        self.totals[kind] = self.totals[kind].saturating_add(1);
    }

    /// Takes one event of the running slot back, if there is one.
    pub(super) fn remove(&mut self, kind: usize) {
        let running = self.running();
        let count = &mut self.slots[running][kind];
        if *count > 0 {
            *count -= 1;
            self.totals[kind] = self.totals[kind].saturating_sub(1);
        }
    }

    /// How many events of a kind there were in the span.
    pub(super) fn total(&self, kind: usize) -> u64 {
        self.totals[kind]
    }

    /// How many of them are in the running slot.
    pub(super) fn now(&self, kind: usize) -> u64 {
        self.slots[self.running()][kind]
    }

    /// The most that one slot holds.
    pub(super) fn peak(&self, kind: usize) -> u64 {
        self.slots.iter().map(|slot| slot[kind]).max().unwrap_or(0)
    }

    /// The length of a slot.
    pub(super) fn width(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.width).unwrap_or(u64::MAX))
    }

    /// When the next slot begins.
    pub(super) fn next_slot(&self) -> Timestamp {
        Timestamp::from_millis(self.running.saturating_add(1).saturating_mul(self.width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn a_count_is_remembered_for_the_span_and_at_most_a_slot_more() {
        // One call each 1.001 slots: a window whose slots begin where it is asked would lose half of it.
        for begin in [0, 1, 499, 999] {
            for pause in [250, 999, 1_000, 1_001, 2_500] {
                let mut window = Window::<2>::new(Duration::from_secs(10));
                window.advance(at(begin));
                window.add(1);
                let mut now = begin;
                loop {
                    now += pause;
                    window.advance(at(now));
                    window.add(0);
                    let age = now - begin;
                    let expected = match age {
                        ..=10_000 => Some(1),
                        11_000.. => Some(0),
                        _ => None,
                    };
                    if let Some(expected) = expected {
                        assert_eq!(window.total(1), expected, "begun at {begin}, age {age}");
                    }
                    if age > 20_000 {
                        break;
                    }
                }
            }
        }
    }

    #[test]
    fn long_idleness_and_the_ends_of_time_cost_nothing_and_break_nothing() {
        let mut window = Window::<1>::new(Duration::from_secs(10));
        for now in [0, i64::MAX, i64::MIN, 5, i64::MAX] {
            window.advance(at(now));
            window.add(0);
            assert!(window.next_slot() >= at(i64::MIN));
            assert!((1..=2).contains(&window.total(0)));
        }
        let mut window = Window::<1>::new(Duration::MAX);
        window.advance(at(1));
        window.add(0);
        assert_eq!((window.total(0), window.now(0), window.peak(0)), (1, 1, 1));
    }

    #[test]
    fn a_clock_that_is_set_back_loses_no_count() {
        let mut window = Window::<1>::new(Duration::from_secs(10));
        for now in [5_000, 4_999, 3_999, 1_000, -3_000_000] {
            window.advance(at(now));
            window.add(0);
        }
        assert_eq!(window.total(0), 5);
        // They are as old as they were, and leave by the new time.
        window.advance(at(-3_000_000 + 9_000));
        assert_eq!(window.total(0), 5);
        window.advance(at(-3_000_000 + 11_000));
        assert_eq!(window.total(0), 0);
    }
}
