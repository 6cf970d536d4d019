//! A virtual clock: events in the order of their times.
//!
//! Owns the order, that of insertion for events at the same time, so that a seed gives the same run on
//! every machine. Must never know what happens.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// The events that are to come, and what time it is.
#[derive(Debug)]
pub(super) struct Queue<E> {
    now: Duration,
    next: u64,
    events: BinaryHeap<Reverse<Entry<E>>>,
}

#[derive(Debug)]
struct Entry<E> {
    at: Duration,
    number: u64,
    event: E,
}

impl<E> Queue<E> {
    pub(super) fn new() -> Self {
        Self {
            now: Duration::ZERO,
            next: 0,
            events: BinaryHeap::new(),
        }
    }

    /// How long the simulation has gone on.
    pub(super) fn now(&self) -> Duration {
        self.now
    }

    /// Lets `event` happen this long from now.
    pub(super) fn after(&mut self, time: Duration, event: E) {
        self.events.push(Reverse(Entry {
            at: self.now + time,
            number: self.next,
            event,
        }));
        self.next += 1;
    }

    /// Goes on to the next event.
    pub(super) fn pop(&mut self) -> Option<E> {
        let Reverse(entry) = self.events.pop()?;
        self.now = entry.at;
        Some(entry.event)
    }
}

impl<E> Entry<E> {
    fn key(&self) -> (Duration, u64) {
        (self.at, self.number)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}
