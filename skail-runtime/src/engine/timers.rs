//! The waits of one execution that have begun.
//!
//! Owns which of them are over at a given time. Must never read a clock or record anything.

use std::collections::{BTreeMap, HashMap};

use crate::clock::Timestamp;
use crate::error::Failure;
use crate::history::Step;
use crate::ids::Position;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    /// In the order in which they end.
    steps: BTreeMap<(Timestamp, Position), Over>,
    ends: HashMap<Position, Timestamp>,
}

/// A wait that is over, or will be.
#[derive(Debug)]
pub(crate) struct Over {
    pub(crate) step: Step,
    /// What its end is, if that is a failure.
    pub(crate) failure: Option<Failure>,
}

impl Timers {
    /// Takes one in.
    pub(crate) fn keep(&mut self, over: Over, due: Timestamp) {
        let position = over.step.position;
        self.ends.insert(position, due);
        self.steps.insert((due, position), over);
    }

    /// Nobody waits for this one any longer.
    pub(crate) fn forget(&mut self, position: Position) {
        if let Some(due) = self.ends.remove(&position) {
            self.steps.remove(&(due, position));
        }
    }

    /// Nobody waits for any.
    pub(crate) fn clear(&mut self) {
        self.ends.clear();
        self.steps.clear();
    }

    /// When the first of them ends, unless that is never.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        let ((due, _), _) = self.steps.first_key_value()?;
        Some(*due).filter(|due| *due < Timestamp::MAX)
    }

    /// Takes one that is over at `now` out.
    pub(crate) fn take_due(&mut self, now: Timestamp) -> Option<Over> {
        self.next_due().filter(|due| *due <= now)?;
        let ((_, position), over) = self.steps.pop_first()?;
        self.ends.remove(&position);
        Some(over)
    }
}
