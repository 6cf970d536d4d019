//! How a step's next attempt begins.
//!
//! Owns the order: due, then the leave of what it calls, then a place, then the record of the start where
//! one is needed, then the body.
//! Must never count an attempt whose body has not had its leave and its place.

use std::sync::Arc;

use super::attempts;
use super::frame::Frame;
use super::places::free_place;
use super::steps::Steps;
use super::underway::{Stage, Underway};
use crate::clock::Timestamp;
use crate::history::Event;
use crate::ids::Position;

impl Steps {
    /// The steps whose next attempt can start now, in the order of their positions. One whose start has
    /// to be recorded can do so only when it has its place, and when what it calls still lets it through.
    pub(crate) fn ready(&mut self, now: Timestamp) -> Vec<Position> {
        let until = (now, Position(u32::MAX));
        let due = self.waiting.range(..=until).map(|(_, position)| *position);
        let mut ready: Vec<Position> = due.collect();
        ready.sort_unstable();
        ready.retain(|position| self.admit(*position, now) && self.place(*position));
        self.returned = false;
        ready.extend(self.placed.drain(..).filter(|position| {
            let underway = self.underway.get(position);
            underway.is_some_and(|underway| matches!(underway.stage, Stage::Placed(_)))
        }));
        ready.retain(|position| self.go(*position, now));
        ready.sort_unstable();
        ready
    }

    /// Whether what a step calls lets its attempt through; if not, it waits on.
    fn admit(&mut self, position: Position, now: Timestamp) -> bool {
        let depends = |underway: &Underway| underway.policy.dependency.is_some();
        if !self.underway.get(&position).is_some_and(depends) {
            return true;
        }
        let Some(mut underway) = self.take(position) else {
            return false;
        };
        let admitted = underway.ask(&self.shared, now);
        self.keep(underway);
        admitted
    }

    /// Whether a step can start now; one that must have its place first is queued for it.
    fn place(&mut self, position: Position) -> bool {
        let Some(underway) = self.underway.get_mut(&position) else {
            return false;
        };
        underway.watched |= self.suspect || underway.policy.at_most_once();
        if !underway.watched {
            return true;
        }
        let body = underway.command.body;
        let (stage, placed) = match free_place(&self.shared, body) {
            Some(place) => (Stage::Placed(place), true),
            None => {
                let (attempt, ends) = (underway.attempt, self.sender.clone());
                let queued = attempts::queue(&self.shared, body, position, attempt, ends);
                (Stage::Queued(queued), false)
            }
        };
        if let Some(at) = std::mem::replace(&mut underway.stage, stage).due() {
            self.waiting.remove(&(at, position));
        }
        placed
    }

    /// Whether a step goes. One whose start is recorded makes use of its leave before that: from then on
    /// its body runs, whatever becomes of what it calls.
    fn go(&mut self, position: Position, now: Timestamp) -> bool {
        let asks = |underway: &Underway| underway.watched && underway.leave.is_some();
        if !self.underway.get(&position).is_some_and(asks) {
            return true;
        }
        let Some(mut underway) = self.take(position) else {
            return false;
        };
        let goes = underway.begin(now);
        self.keep(underway);
        goes
    }

    /// Those that wait for a place, or have one and have not begun, wait for another day.
    pub(crate) fn leave_queue(&mut self, now: Timestamp) {
        self.placed.clear();
        for (position, underway) in &mut self.underway {
            if matches!(underway.stage, Stage::Queued(_) | Stage::Placed(_)) {
                underway.stage = Stage::Waiting(now);
                underway.leave = None;
                self.waiting.insert((now, *position));
            }
        }
    }

    /// The starts among `ready` that must be durable before the body runs.
    pub(crate) fn starts(&self, ready: &[Position], now: Timestamp) -> Vec<Event> {
        ready
            .iter()
            .filter_map(|position| self.underway.get(position))
            .filter(|underway| underway.watched)
            .map(|underway| Event::CommandStarted {
                at: now,
                step: underway.step.clone(),
                attempt: underway.attempt,
            })
            .collect()
    }

    /// Starts the next attempts of these steps.
    pub(crate) fn start(&mut self, ready: &[Position], frame: &Frame) {
        for position in ready {
            let Some(underway) = self.underway.get_mut(position) else {
                continue;
            };
            frame.begins(underway.after);
            let held = match &underway.stage {
                Stage::Placed(place) => Some(Arc::clone(place)),
                Stage::Waiting(_) | Stage::Held(_) | Stage::Queued(_) | Stage::Running(_) => None,
            };
            let attempt = underway.attempt(&self.execution);
            let running = attempts::spawn(&self.shared, attempt, held, self.sender.clone());
            let before = std::mem::replace(&mut underway.stage, Stage::Running(running));
            if let Some(at) = before.due() {
                self.waiting.remove(&(at, *position));
            }
        }
    }
}
