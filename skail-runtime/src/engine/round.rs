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
}
