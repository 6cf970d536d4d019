//! What a call asks of its driver.
//!
//! Owns the kinds of steps and what each needs to come to its end. Must never bring one there.

use std::borrow::Cow;
use std::time::Duration;

use super::shared::Shared;
use crate::clock::Timestamp;
use crate::codec::{Payload, PayloadError};
use crate::descriptor::{CommandDescriptor, CommandPolicy};
use crate::error::{Failure, FailureKind};
use crate::history::{Step, StepKind};
use crate::ids::Position;

/// A step as a call asks for it.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(crate) kind: StepKind,
    pub(crate) name: Cow<'static, str>,
    pub(crate) request: Request,
}

/// What has to be done for it.
#[derive(Debug)]
pub(crate) enum Request {
    /// Run a command.
    Command(CommandRequest),
    /// Have a value recorded.
    Value(Source),
    /// Wait.
    Timer(Timer),
}

/// A command call on its way to become a step.
#[derive(Debug, Clone)]
pub(crate) struct CommandRequest {
    pub(crate) descriptor: &'static CommandDescriptor,
    pub(crate) policy: CommandPolicy,
    pub(crate) arguments: Result<Payload, (&'static str, PayloadError)>,
}

/// A value, or that it could not be written.
pub(crate) type Made = Result<Payload, PayloadError>;

/// Where a value comes from.
#[derive(Debug)]
pub(crate) enum Source {
    /// The clock.
    Now,
    /// The engine's randomness, through this.
    Random(fn(&mut fastrand::Rng) -> Made),
    /// The clock and the engine's randomness.
    Uuid,
    /// The call makes it, in the poll in which it asks.
    Call,
    /// The call has made it.
    Made(Made),
}

/// A wait on its way to become a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timer {
    pub(crate) wait: Wait,
    /// Whether its end is a failure: that of what it was to bound.
    pub(crate) elapses: bool,
}

/// Until when a timer waits.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wait {
    /// So long from when it begins.
    For(Duration),
    /// Until this time.
    Until(Timestamp),
}

impl Asking {
    /// The step that it is at `position`.
    ///
    /// A wait has no arguments to compare: its end is recorded and holds, so a deploy may change how long
    /// the ones after it take.
    pub(crate) fn step(&self, position: Position) -> Step {
        let arguments = match &self.request {
            Request::Command(CommandRequest {
                arguments: Ok(arguments),
                ..
            }) => arguments.clone(),
            Request::Command(_) | Request::Value(_) | Request::Timer(_) => Payload::nothing(),
        };
        Step {
            position,
            kind: self.kind,
            name: self.name.clone().into_owned(),
            digest: arguments.digest(),
            arguments,
        }
    }
}

impl Source {
    /// The value, at `now`.
    pub(crate) fn value(self, shared: &Shared, now: Timestamp) -> Made {
        match self {
            Self::Now => Payload::encode(&now),
            Self::Random(draw) => shared.draw(draw),
            Self::Uuid => {
                let random = shared.draw(|random| random.u128(..).to_be_bytes());
                let mut bytes = [0; 10];
                bytes.copy_from_slice(&random[..10]);
                let millis = u64::try_from(now.as_millis()).unwrap_or(0);
                let id = uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid();
                Payload::encode(&id)
            }
            Self::Call => unreachable!("a call makes its value in the poll in which it asks"),
            Self::Made(made) => made,
        }
    }
}

impl Timer {
    /// What its end is, if that is a failure.
    pub(crate) fn failure(self) -> Option<Failure> {
        let text = match self.wait {
            Wait::For(duration) => format!("it did not end within {duration:?}"),
            Wait::Until(_) => "it did not end in time".to_owned(),
        };
        let failure = Failure::new(FailureKind::TimedOut, text);
        self.elapses.then_some(failure)
    }
}

impl Wait {
    /// When it ends, if it begins at `now`.
    pub(crate) fn due(self, now: Timestamp) -> Timestamp {
        match self {
            Self::For(duration) => now.saturating_add(duration),
            Self::Until(at) => at,
        }
    }
}
