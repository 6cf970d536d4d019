//! What a round of work came to.
//!
//! Owns the pairing of an outcome with the event that records it: neither without the other. Must never
//! record or deliver anything itself.

use crate::clock::Timestamp;
use crate::codec::Payload;
use crate::error::Failure;
use crate::history::{BlockReason, Delivery, Event, Outcome, Step};

/// To be recorded first, then delivered.
#[derive(Debug, Default)]
pub(crate) struct Round {
    pub(crate) events: Vec<Event>,
    pub(crate) deliveries: Vec<Delivery>,
    pub(crate) block: Option<BlockReason>,
    /// The latest point, counted in deliveries, at which a step was asked for whose record leaves a mark.
    pub(crate) built_on: u64,
}

impl Round {
    /// A step gave its result.
    pub(crate) fn complete(&mut self, at: Timestamp, step: Step, attempts: u32, result: Payload) {
        self.deliveries.push(Delivery {
            position: step.position,
            outcome: Outcome::Completed(result.clone()),
        });
        self.events.push(Event::CommandCompleted {
            at,
            step,
            attempts,
            result,
        });
    }

    /// A step has failed.
    pub(crate) fn fail(
        &mut self,
        at: Timestamp,
        step: Step,
        attempts: u32,
        failure: Failure,
        unrepeatable: bool,
    ) {
        let outcome = Outcome::Failed {
            attempts,
            failure: failure.clone(),
            unrepeatable,
        };
        self.deliveries.push(Delivery {
            position: step.position,
            outcome,
        });
        self.events.push(Event::CommandFailed {
            at,
            step,
            attempts,
            failure,
            unrepeatable,
        });
    }

    /// A value, of a step that was asked for after `after` deliveries.
    pub(crate) fn value(&mut self, at: Timestamp, step: Step, after: u64, value: Payload) {
        self.built_on = self.built_on.max(after);
        self.deliveries.push(Delivery {
            position: step.position,
            outcome: Outcome::Completed(value.clone()),
        });
        self.events.push(Event::ValueRecorded { at, step, value });
    }

    /// A wait begins, of a step that was asked for after `after` deliveries.
    pub(crate) fn set_timer(&mut self, at: Timestamp, step: Step, after: u64, due: Timestamp) {
        self.built_on = self.built_on.max(after);
        self.events.push(Event::TimerSet { at, step, due });
    }

    /// A wait is over.
    pub(crate) fn fire(&mut self, at: Timestamp, step: Step) {
        self.deliveries.push(Delivery {
            position: step.position,
            outcome: Outcome::Completed(Payload::nothing()),
        });
        self.events.push(Event::TimerFired { at, step });
    }

    /// A step that is no command cannot give what it was asked for.
    pub(crate) fn fail_step(&mut self, at: Timestamp, step: Step, failure: Failure) {
        let outcome = Outcome::Failed {
            attempts: 0,
            failure: failure.clone(),
            unrepeatable: false,
        };
        self.deliveries.push(Delivery {
            position: step.position,
            outcome,
        });
        self.events.push(Event::StepFailed { at, step, failure });
    }
}
