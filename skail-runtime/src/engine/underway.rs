//! One step that is under way.
//!
//! Owns what is known of the step between its call and its outcome: which attempt it is at, what it waits
//! for, the leave of what it calls. Must never decide what follows from an attempt's end.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::attempts::{Attempt, Running};
use super::context::{AttemptContext, AttemptInfo};
use super::dependencies::{Asker, Hold, Leave};
use super::places::Place;
use super::shared::Shared;
use crate::clock::Timestamp;
use crate::codec::Payload;
use crate::descriptor::{CommandDescriptor, CommandPolicy};
use crate::history::Step;
use crate::ids::ExecutionId;

/// See the module.
#[derive(Debug)]
pub(crate) struct Underway {
    pub(crate) step: Step,
    pub(crate) command: &'static CommandDescriptor,
    pub(crate) policy: CommandPolicy,
    pub(crate) arguments: Payload,
    /// How many completions the function had got when it asked.
    pub(crate) after: u64,
    /// The number of the attempt that runs, or is to run.
    pub(crate) attempt: u32,
    pub(crate) previous_delay: Option<Duration>,
    /// Whether the start of every further attempt is recorded, because one was: the process died in this
    /// step, or may have.
    pub(crate) watched: bool,
    /// Whether its attempts were spent before, in an earlier attempt of the function.
    pub(crate) again: bool,
    /// Whether this attempt was held by what it calls, or may have been before the execution left memory.
    pub(crate) waited: bool,
    pub(crate) stage: Stage,
    /// The leave for the attempt that is to run.
    pub(crate) leave: Option<Leave>,
}

/// Where it stands.
#[derive(Debug)]
pub(crate) enum Stage {
    /// Its next attempt starts at this time.
    Waiting(Timestamp),
    /// What it calls is not to be called now.
    Held(Hold),
    /// Its next attempt waits for a place, so that its start can be recorded then.
    Queued(#[expect(dead_code, reason = "held to be dropped")] Running),
    /// It has its place; its start is to be recorded.
    Placed(Place),
    /// Its body runs; dropped, it is aborted.
    Running(#[expect(dead_code, reason = "held to be dropped")] Running),
}

impl Stage {
    /// When there is something to do about it, if time brings it.
    pub(crate) fn due(&self) -> Option<Timestamp> {
        match self {
            Self::Waiting(at) => Some(*at),
            Self::Held(hold) => Some(hold.until),
            Self::Queued(_) | Self::Placed(_) | Self::Running(_) => None,
        }
    }
}

impl Underway {
    /// Asks what it calls for leave; whether its attempt may start.
    pub(crate) fn ask(&mut self, shared: &Shared, now: Timestamp) -> bool {
        let Some(name) = self.policy.dependency else {
            return true;
        };
        let asker = Asker {
            retry: self.again || self.attempt > 1,
            waited: self.waited,
        };
        match shared.dependencies.get(name).ask(asker, now) {
            Ok(leave) => {
                self.leave = Some(leave);
                true
            }
            Err(hold) => {
                self.hold(hold);
                false
            }
        }
    }

    /// Makes use of its leave, before its start is recorded; whether its attempt may still begin.
    pub(crate) fn begin(&mut self, now: Timestamp) -> bool {
        match self.leave.take().map(|leave| leave.begin(now)) {
            None => true,
            Some(Ok(leave)) => {
                self.leave = Some(leave);
                true
            }
            Some(Err(hold)) => {
                self.hold(hold);
                false
            }
        }
    }

    /// It has to wait, and that costs it no attempt.
    pub(crate) fn hold(&mut self, hold: Hold) {
        self.waited = true;
        self.stage = Stage::Held(hold);
    }

    /// The attempt that is to run.
    pub(crate) fn attempt(&mut self, execution: &ExecutionId) -> Attempt {
        self.waited = false;
        let context = AttemptContext {
            execution: execution.clone(),
            position: self.step.position,
            command: self.command.name,
            attempt: AttemptInfo {
                number: self.attempt,
                of: self.policy.retry_count.saturating_add(1),
            },
            business_key: OnceLock::new(),
        };
        Attempt {
            command: self.command,
            context: Arc::new(context),
            arguments: self.arguments.clone(),
            timeout: self.policy.timeout,
            leave: self.leave.take(),
        }
    }
}
