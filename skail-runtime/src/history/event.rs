//! The stored facts. Their names are forever: an event is never removed or given another meaning, only
//! added, and fields are added with a default.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::codec::{Digest, Payload};
use crate::error::Failure;
use crate::ids::Position;

/// What kind of step stands at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum StepKind {
    /// A command call.
    Command,
    /// The time, from `now()`.
    Now,
    /// A random number, from `random()`.
    Random,
    /// An id, from `uuid()`.
    Uuid,
    /// What the closure of a `record()` gave.
    Record,
    /// A wait for a point in time.
    Timer,
}

impl std::fmt::Display for StepKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Command => "command",
            Self::Now | Self::Random | Self::Uuid => "value",
            Self::Record => "recorded value",
            Self::Timer => "timer",
        })
    }
}

/// A step as it was asked for: what replay compares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its place: the order in which steps are first polled.
    pub position: Position,
    /// What kind it is.
    pub kind: StepKind,
    /// The recorded name of the command, or what the code wrote.
    pub name: String,
    /// The digest of its arguments.
    pub digest: Digest,
    /// Its arguments, for people and for the message of a divergence.
    pub arguments: Payload,
}

/// Arguments of a finished step that an operator accepted although they changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedArguments {
    /// The step.
    pub position: Position,
    /// The digest that it may have from now on.
    pub digest: Digest,
}

/// Why an execution is blocked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockReason {
    /// The whole message: what, where, and the ways out.
    pub message: String,
    /// The step at which it was seen, if it was at one.
    pub position: Option<Position>,
    /// The digest that the code asked for, if only the arguments differ: what a resume can accept.
    pub changed_arguments: Option<Digest>,
}

/// One stored fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The execution was started. Always the first event, and only the first.
    Started {
        /// When.
        at: Timestamp,
        /// The recorded name of the function.
        function: String,
        /// Its arguments.
        arguments: Payload,
    },
    /// A command attempt is about to start: written before the body runs where its start must survive a
    /// crash (at most once, or a suspect after an unclean stop).
    CommandStarted {
        /// When.
        at: Timestamp,
        /// The step.
        step: Step,
        /// Attempt number, from 1.
        attempt: u32,
    },
    /// A command attempt failed and another follows.
    CommandAttemptFailed {
        /// When.
        at: Timestamp,
        /// The step.
        step: Step,
        /// Attempt number, from 1.
        attempt: u32,
        /// What it ended with.
        failure: Failure,
        /// When the next attempt is due.
        retry_at: Timestamp,
    },
    /// A command gave its result: it never runs again.
    CommandCompleted {
        /// When.
        at: Timestamp,
        /// The step.
        step: Step,
        /// How many attempts it took.
        attempts: u32,
        /// The result.
        result: Payload,
    },
    /// A command's last attempt failed: the function gets the error.
    CommandFailed {
        /// When.
        at: Timestamp,
        /// The step.
        step: Step,
        /// How many attempts were made.
        attempts: u32,
        /// What the last one ended with.
        failure: Failure,
        /// Whether the command may never run again, not even at a redelivery of the function.
        unrepeatable: bool,
    },
    /// A value that the function got: from then on it is this one.
    ValueRecorded {
        /// When.
        at: Timestamp,
        /// The step.
        step: Step,
        /// The value.
        value: Payload,
    },
    /// A wait began. However often the function runs again, it ends at this time.
    TimerSet {
        /// When.
        at: Timestamp,
        /// The step.
        step: Step,
        /// When it ends; [`Timestamp::MAX`] is never.
        due: Timestamp,
    },
    /// A wait is over.
    TimerFired {
        /// When.
        at: Timestamp,
        /// The step.
        step: Step,
    },
    /// A step that is no command cannot give what it was asked for: the function gets the error.
    StepFailed {
        /// When.
        at: Timestamp,
        /// The step.
        step: Step,
        /// Why.
        failure: Failure,
    },
    /// The code came to a `patched` call where the history held nothing later, and took the new way.
    Patched {
        /// When.
        at: Timestamp,
        /// The name of the change.
        id: String,
        /// The position that the next step after it gets; the call itself takes none.
        position: Position,
    },
    /// An attempt of the function ended without a result.
    FunctionAttemptFailed {
        /// When.
        at: Timestamp,
        /// Attempt number since the start or the last resume, from 1.
        attempt: u32,
        /// What it ended with.
        failure: Failure,
        /// The failed commands that nothing durable followed: they are tried afresh.
        dropped: Vec<Position>,
        /// When the function is redelivered; `None` means that the execution has failed.
        retry_at: Option<Timestamp>,
    },
    /// The execution cannot go on with this code.
    Blocked {
        /// When.
        at: Timestamp,
        /// Why.
        reason: BlockReason,
    },
    /// An operator resumed a failed or blocked execution.
    Resumed {
        /// When.
        at: Timestamp,
        /// Changed arguments that were accepted with it.
        accepted: Vec<AcceptedArguments>,
    },
    /// The function gave its result.
    Completed {
        /// When.
        at: Timestamp,
        /// The result.
        result: Payload,
    },
}

impl Event {
    /// When it happened.
    #[must_use]
    pub const fn at(&self) -> Timestamp {
        match self {
            Self::Started { at, .. }
            | Self::CommandStarted { at, .. }
            | Self::CommandAttemptFailed { at, .. }
            | Self::CommandCompleted { at, .. }
            | Self::CommandFailed { at, .. }
            | Self::ValueRecorded { at, .. }
            | Self::TimerSet { at, .. }
            | Self::TimerFired { at, .. }
            | Self::StepFailed { at, .. }
            | Self::Patched { at, .. }
            | Self::FunctionAttemptFailed { at, .. }
            | Self::Blocked { at, .. }
            | Self::Resumed { at, .. }
            | Self::Completed { at, .. } => *at,
        }
    }

    /// The step that it is about, if it is about one.
    #[must_use]
    pub const fn step(&self) -> Option<&Step> {
        match self {
            Self::CommandStarted { step, .. }
            | Self::CommandAttemptFailed { step, .. }
            | Self::CommandCompleted { step, .. }
            | Self::CommandFailed { step, .. }
            | Self::ValueRecorded { step, .. }
            | Self::TimerSet { step, .. }
            | Self::TimerFired { step, .. }
            | Self::StepFailed { step, .. } => Some(step),
            Self::Started { .. }
            | Self::Patched { .. }
            | Self::FunctionAttemptFailed { .. }
            | Self::Blocked { .. }
            | Self::Resumed { .. }
            | Self::Completed { .. } => None,
        }
    }

    /// Puts every payload of the event through `map`.
    pub(crate) fn map_payloads<E>(
        &mut self,
        map: impl Fn(&Payload) -> Result<Payload, E>,
    ) -> Result<(), E> {
        let failure = |failure: &mut Failure| match &mut failure.typed {
            Some(typed) => map(typed).map(|mapped| *typed = mapped),
            None => Ok(()),
        };
        match self {
            Self::Started { arguments, .. } => *arguments = map(arguments)?,
            Self::CommandStarted { step, .. }
            | Self::TimerSet { step, .. }
            | Self::TimerFired { step, .. } => step.arguments = map(&step.arguments)?,
            Self::CommandAttemptFailed {
                step,
                failure: failed,
                ..
            }
            | Self::CommandFailed {
                step,
                failure: failed,
                ..
            }
            | Self::StepFailed {
                step,
                failure: failed,
                ..
            } => {
                step.arguments = map(&step.arguments)?;
                failure(failed)?;
            }
            Self::CommandCompleted { step, result, .. }
            | Self::ValueRecorded {
                step,
                value: result,
                ..
            } => {
                step.arguments = map(&step.arguments)?;
                *result = map(result)?;
            }
            Self::FunctionAttemptFailed {
                failure: failed, ..
            } => failure(failed)?,
            Self::Completed { result, .. } => *result = map(result)?,
            Self::Patched { .. } | Self::Blocked { .. } | Self::Resumed { .. } => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::FailureKind;
    use crate::history::encode_record;

    /// The body of a record, after its version and checksum.
    fn written(stored: &impl Serialize) -> String {
        Payload::from_bytes(&encode_record(stored)[5..]).preview(1_000)
    }

    /// These words are in the stores of users.
    #[test]
    fn stored_names_are_forever() {
        let at = Timestamp::from_millis(1);
        let step = |kind, name: &str| Step {
            position: Position(2),
            kind,
            name: name.to_owned(),
            digest: Payload::nothing().digest(),
            arguments: Payload::nothing(),
        };
        let shown = |kind: &str, name: &str| {
            let digest = written_digest();
            format!(
                "\"step\": {{\"position\": 2, \"kind\": \"{kind}\", \"name\": \"{name}\", \
                 \"digest\": {digest}, \"arguments\": [144]}}"
            )
        };
        let value = Payload::encode(&7).expect("it is written");
        for (kind, word) in [
            (StepKind::Now, "Now"),
            (StepKind::Random, "Random"),
            (StepKind::Uuid, "Uuid"),
            (StepKind::Record, "Record"),
        ] {
            let event = Event::ValueRecorded {
                at,
                step: step(kind, "x"),
                value: value.clone(),
            };
            let expected = shown(word, "x");
            let expected =
                format!("{{\"ValueRecorded\": {{\"at\": 1, {expected}, \"value\": [7]}}}}");
            assert_eq!(written(&event), expected);
        }
        let sleep = || step(StepKind::Timer, "sleep");
        let expected = shown("Timer", "sleep");
        let due = Timestamp::from_millis(9);
        let set = Event::TimerSet {
            at,
            step: sleep(),
            due,
        };
        assert_eq!(
            written(&set),
            format!("{{\"TimerSet\": {{\"at\": 1, {expected}, \"due\": 9}}}}")
        );
        let fired = Event::TimerFired { at, step: sleep() };
        assert_eq!(
            written(&fired),
            format!("{{\"TimerFired\": {{\"at\": 1, {expected}}}}}")
        );
        let failure = Failure::new(FailureKind::Failed, "no");
        let failed = Event::StepFailed {
            at,
            step: sleep(),
            failure,
        };
        assert_eq!(
            written(&failed),
            format!(
                "{{\"StepFailed\": {{\"at\": 1, {expected}, \"failure\": {{\"kind\": \"Failed\", \
                 \"message\": \"no\"}}}}}}"
            )
        );
        let (id, position) = ("x".to_owned(), Position(3));
        let patched = Event::Patched { at, id, position };
        assert_eq!(
            written(&patched),
            "{\"Patched\": {\"at\": 1, \"id\": \"x\", \"position\": 3}}"
        );
    }

    fn written_digest() -> String {
        written(&Payload::nothing().digest())
    }
}
