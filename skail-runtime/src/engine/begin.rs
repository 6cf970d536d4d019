//! How a step's next attempt begins.
//!
//! Owns the order: due, then a place, then the record of the start where one is needed, then the body.
//! Must never count an attempt whose body has not had its place.

use std::sync::{Arc, OnceLock};

use super::attempts::{self, Attempt};
use super::context::{AttemptContext, AttemptInfo};
use super::frame::Frame;
use super::places::free_place;
use super::steps::{Stage, Steps};
use crate::clock::Timestamp;
use crate::history::Event;
use crate::ids::Position;

impl Steps {
    /// The steps whose next attempt can start now, in the order of their positions. One whose start has
    /// to be recorded can do so only when it has its place.
    pub(crate) fn ready(&mut self, now: Timestamp) -> Vec<Position> {
        let until = (now, Position(u32::MAX));
        let due = self.waiting.range(..=until).map(|(_, position)| *position);
        let mut ready: Vec<Position> = due.collect();
        ready.retain(|position| self.place(*position));
        ready.extend(self.placed.drain(..).filter(|position| {
            let underway = self.underway.get(position);
            underway.is_some_and(|underway| matches!(underway.stage, Stage::Placed(_)))
        }));
        ready.sort_unstable();
        ready
    }

    /// Whether a step that is due can start now; one that must have its place first is queued for it.
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
        if let Stage::Waiting(at) = std::mem::replace(&mut underway.stage, stage) {
            self.waiting.remove(&(at, position));
        }
        placed
    }

    /// Those that wait for a place, or have one and have not begun, wait for another day.
    pub(crate) fn leave_queue(&mut self, now: Timestamp) {
        self.placed.clear();
        for (position, underway) in &mut self.underway {
            if matches!(underway.stage, Stage::Queued(_) | Stage::Placed(_)) {
                underway.stage = Stage::Waiting(now);
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
            let context = AttemptContext {
                execution: self.execution.clone(),
                position: *position,
                command: underway.command.name,
                attempt: AttemptInfo {
                    number: underway.attempt,
                    of: underway.policy.retry_count.saturating_add(1),
                },
                business_key: OnceLock::new(),
            };
            let attempt = Attempt {
                command: underway.command,
                context: Arc::new(context),
                arguments: underway.arguments.clone(),
                timeout: underway.policy.timeout,
            };
            let held = match &underway.stage {
                Stage::Placed(place) => Some(Arc::clone(place)),
                Stage::Waiting(_) | Stage::Queued(_) | Stage::Running(_) => None,
            };
            let running = attempts::spawn(&self.shared, attempt, held, self.sender.clone());
            let before = std::mem::replace(&mut underway.stage, Stage::Running(running));
            if let Stage::Waiting(at) = before {
                self.waiting.remove(&(at, *position));
            }
        }
    }
}
