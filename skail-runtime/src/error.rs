//! The errors that users meet, and the recorded form of theirs.
//!
//! Owns the three kinds of "not Ok" as three types: the user's failure ([`Failure`], recorded), our
//! fault ([`StoreError`](crate::store::StoreError) and the errors of the handles, reported), and control
//! flow (the engine's own, never an error). Must never decide what is tried again.

mod step;

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::codec::{Payload, PayloadError, shorten};
use crate::ids::Position;

pub use step::{Elapsed, StepError};

/// Why a command or function did not give a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum FailureKind {
    /// The body returned `Err`.
    Failed,
    /// An attempt took longer than its timeout.
    TimedOut,
    /// The body panicked.
    Panicked,
    /// The process died in the body: whether the effect happened is unknown.
    Interrupted,
    /// The arguments or the result cannot be recorded; no further attempt can help.
    Unrecordable,
    /// The call was awaited where it can't be: outside an execution, or inside a command; no further
    /// attempt can help.
    Misplaced,
}

impl FailureKind {
    /// What follows from the kind alone: where the code is wrong, the same code would come to the same end.
    fn advice(self) -> Advice {
        match self {
            Self::Unrecordable | Self::Misplaced => Advice::Permanent,
            Self::Failed | Self::TimedOut | Self::Panicked | Self::Interrupted => Advice::Usual,
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Failed => "failed",
            Self::TimedOut => "timed out",
            Self::Panicked => "panicked",
            Self::Interrupted => "interrupted",
            Self::Unrecordable => "unrecordable",
            Self::Misplaced => "misplaced",
        })
    }
}

/// What an error says about trying again; recorded with it.
///
/// Said by [`permanent`](crate::permanent), [`retry_after`](crate::retry_after) or the error's own
/// [`RetryAdvice`](crate::RetryAdvice).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Advice {
    /// Nothing: the next attempt comes after the backoff.
    #[default]
    Usual,
    /// No further attempt can help.
    Permanent,
    /// The next attempt comes after this time instead of the backoff's. Zero says nothing.
    After(Duration),
}

impl Advice {
    fn is_usual(&self) -> bool {
        *self == Self::Usual
    }
}

/// The longest recorded message or cause, in bytes. A longer one is cut at a character with a marker:
/// an error of megabytes must not become a second failure.
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// The most causes that are recorded.
const MAX_CAUSES: usize = 32;

/// The largest typed error that is recorded beside its text, in bytes.
pub(crate) const MAX_TYPED_BYTES: usize = 64 * 1024;

/// An error as it is recorded: text and causes always, the typed value where it can be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of end it was.
    pub kind: FailureKind,
    /// The error's own text.
    pub message: String,
    /// The texts of its sources, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// The error itself, if its type can be recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typed: Option<Payload>,
    /// What it said about trying again.
    #[serde(default, skip_serializing_if = "Advice::is_usual")]
    pub advice: Advice,
}

impl Failure {
    /// A failure with a message, and what its kind alone says about trying again.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: cut(message.into()),
            causes: Vec::new(),
            typed: None,
            advice: kind.advice(),
        }
    }

    /// A user's error, its sources, its recorded value if it has one, and what it says about trying
    /// again.
    #[must_use]
    pub fn from_error(error: &anyhow::Error, typed: Option<Payload>, advice: Advice) -> Self {
        let causes = error
            .chain()
            .skip(1)
            .take(MAX_CAUSES)
            .map(|cause| cut(cause.to_string()))
            .collect();
        let typed = typed.filter(|payload| payload.as_bytes().len() <= MAX_TYPED_BYTES);
        Self {
            kind: FailureKind::Failed,
            message: cut(error.to_string()),
            causes,
            typed,
            advice,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for cause in &self.causes {
            write!(f, ": {cause}")?;
        }
        Ok(())
    }
}

fn cut(text: String) -> String {
    shorten(text, MAX_TEXT_BYTES)
}

/// What a function gets at the `.await` of a command that did not succeed.
///
/// It is the error of the last attempt; the function never sees the ones before. A business refusal is
/// better returned as a value in `Ok`.
///
/// ```
/// # use skail_runtime::prelude::*;
/// #[derive(Debug, thiserror::Error, serde::Serialize, serde::Deserialize)]
/// enum GatewayError {
///     #[error("the gateway answers {status}")]
///     Status { status: u16 },
/// }
///
/// #[skail_command(retry_count = 0)]
/// async fn charge(cents: u32) -> Result<String, GatewayError> {
///     # let _ = cents;
///     Err(GatewayError::Status { status: 503 })
/// }
///
/// #[skail_function]
/// async fn process(cents: u32) -> anyhow::Result<String> {
///     let error = match charge(cents).await {
///         Ok(receipt) => return Ok(receipt),
///         Err(error) => error,
///     };
///     if error.kind() == FailureKind::Interrupted {
///         return Ok("a person has to look: perhaps it was charged".to_owned());
///     }
///     Ok(match error.downcast::<GatewayError>() {
///         Some(GatewayError::Status { status }) => format!("not charged: {status}"),
///         None => format!("not charged after {} attempts: {error}", error.attempts()),
///     })
/// }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct CommandError(Box<CommandErrorInner>);

#[derive(Clone, PartialEq, Eq)]
struct CommandErrorInner {
    command: String,
    position: Option<Position>,
    attempts: u32,
    failure: Failure,
    source: Option<Cause>,
}

impl CommandError {
    pub(crate) fn new(
        command: &str,
        position: Option<Position>,
        attempts: u32,
        failure: Failure,
    ) -> Self {
        let source = Cause::chain(&failure.causes);
        Self(Box::new(CommandErrorInner {
            command: command.to_owned(),
            position,
            attempts,
            failure,
            source,
        }))
    }

    /// What kind of end it was.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        self.0.failure.kind
    }

    /// The text of the error that the last attempt ended with.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.failure.message
    }

    /// How many attempts were made.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.0.attempts
    }

    /// What the error of the last attempt said about trying again. [`Advice::Permanent`] is why there
    /// were fewer attempts than `retry_count` allows.
    #[must_use]
    pub fn advice(&self) -> Advice {
        self.0.failure.advice
    }

    /// The command's recorded name.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.0.command
    }

    /// The step's position; `None` if the call never became a step.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.0.position
    }

    /// The command's own error, if its type is `Serialize + DeserializeOwned` and its record reads as `E`.
    /// `None` for a panic, a timeout, an error of another shape, or one of more than 64 KiB.
    #[must_use]
    pub fn downcast<E: DeserializeOwned>(&self) -> Option<E> {
        self.0.failure.typed.as_ref()?.decode().ok()
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        write!(f, "command `{}`", inner.command)?;
        if let Some(position) = inner.position {
            write!(f, " (position {position})")?;
        }
        write!(f, " {}", inner.failure.kind)?;
        let said = inner.failure.kind == FailureKind::Failed;
        if said && inner.failure.advice == Advice::Permanent {
            f.write_str(" for good")?;
        }
        match inner.attempts {
            0 => {}
            1 => f.write_str(" after 1 attempt")?,
            n => write!(f, " after {n} attempts")?,
        }
        write!(f, ": {}", inner.failure.message)
    }
}

impl fmt::Debug for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandError")
            .field("command", &self.0.command)
            .field("position", &self.0.position)
            .field("attempts", &self.0.attempts)
            .field("failure", &self.0.failure)
            .finish()
    }
}

impl StdError for CommandError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0
            .source
            .as_ref()
            .map(|cause| cause as &(dyn StdError + 'static))
    }
}

/// One recorded cause, so that a recorded error has a source chain like the error that it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cause {
    text: String,
    source: Option<Box<Cause>>,
}

impl Cause {
    pub(crate) fn chain(causes: &[String]) -> Option<Self> {
        causes.iter().rev().fold(None, |source, text| {
            Some(Self {
                text: text.clone(),
                source: source.map(Box::new),
            })
        })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl StdError for Cause {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source
            .as_deref()
            .map(|cause| cause as &(dyn StdError + 'static))
    }
}

/// Why a body gave no result, as the engine sees it.
#[derive(Debug)]
pub enum BodyError {
    /// The recorded arguments are not what the body takes: another version of the code wrote them.
    Arguments {
        /// The parameter.
        parameter: &'static str,
        /// What was wrong with it.
        error: PayloadError,
    },
    /// The body returned a value that cannot be recorded.
    Result(PayloadError),
    /// The body returned an error.
    User(Failure),
}
