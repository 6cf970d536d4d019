//! What a function gets at the `.await` of a step that is no command and could not give what it was asked
//! for.

use std::error::Error as StdError;
use std::fmt;

use super::{Advice, Cause, Failure, FailureKind};
use crate::ids::Position;

/// What a function gets at the `.await` of a step that is no command, such as
/// [`now()`](crate::now) or [`sleep()`](crate::sleep), when that cannot give what it was asked for.
///
/// In a function it is rare: a value that cannot be recorded. Anywhere else the step is
/// [misplaced](FailureKind::Misplaced).
///
/// ```
/// # use skail_runtime::prelude::*;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let error = now().await.unwrap_err();
/// assert_eq!(error.kind(), FailureKind::Misplaced);
/// assert!(error.message().contains("awaited outside an execution"));
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct StepError(Box<StepErrorInner>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct StepErrorInner {
    step: String,
    position: Option<Position>,
    failure: Failure,
    source: Option<Cause>,
}

impl StepError {
    pub(crate) fn new(step: String, position: Option<Position>, failure: Failure) -> Self {
        let source = Cause::chain(&failure.causes);
        Self(Box::new(StepErrorInner {
            step,
            position,
            failure,
            source,
        }))
    }

    /// What kind of end it was.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        self.0.failure.kind
    }

    /// What was wrong, and what to do about it.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.failure.message
    }

    /// Whether another attempt of the function can help.
    #[must_use]
    pub fn advice(&self) -> Advice {
        self.0.failure.advice
    }

    /// The step, as the code wrote it: `now()`.
    #[must_use]
    pub fn step(&self) -> &str {
        &self.0.step
    }

    /// The step's position; `None` if it never became one.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.0.position
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        write!(f, "step `{}`", inner.step)?;
        if let Some(position) = inner.position {
            write!(f, " (position {position})")?;
        }
        write!(f, " {}: {}", inner.failure.kind, inner.failure.message)
    }
}

impl fmt::Debug for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepError")
            .field("step", &self.0.step)
            .field("position", &self.0.position)
            .field("failure", &self.0.failure)
            .finish()
    }
}

impl StdError for StepError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        let source = self.0.source.as_ref();
        source.map(|cause| cause as &(dyn StdError + 'static))
    }
}

/// What [`timeout`](crate::timeout) gives when a step did not end in time.
#[derive(Clone, PartialEq, Eq)]
pub struct Elapsed(StepError);

impl Elapsed {
    pub(crate) fn new(error: StepError) -> Self {
        Self(error)
    }

    /// [`FailureKind::TimedOut`]; [`FailureKind::Misplaced`] where there are no steps.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        self.0.kind()
    }

    /// Which time has elapsed.
    #[must_use]
    pub fn message(&self) -> &str {
        self.0.message()
    }

    /// The position of the timer; `None` if it never became a step.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.0.position()
    }

    /// Whether another attempt of the function can help.
    #[must_use]
    pub fn advice(&self) -> Advice {
        self.0.advice()
    }
}

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Elapsed").field(&self.0).finish()
    }
}

impl StdError for Elapsed {}
