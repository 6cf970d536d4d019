//! The call of a step that is no command: a value, a wait.
//!
//! Owns its poll, and the words for a call that is awaited where there are no steps.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::ask::{Ask, Elsewhere, Given};
use super::frame::Frame;
use super::request::{Asking, Made, Request};
use crate::codec::{Payload, PayloadError};
use crate::error::{Failure, FailureKind, StepError};
use crate::history::{Outcome, StepKind};
use crate::ids::Position;

/// A call of a step that is no command, made by [`now`](crate::now), [`random`](crate::random),
/// [`uuid()`](crate::uuid()), [`record`](crate::record), [`sleep`](crate::sleep) or
/// [`sleep_until`](crate::sleep_until): awaited inside a function it gives `Result<T, StepError>`.
///
/// It does nothing until it is polled, and takes its position then. It works with `join!`,
/// `try_join_all`, `FuturesUnordered` and `select! { biased; … }`; one that is dropped before its end is
/// forgotten, and what it would have given is never delivered.
#[must_use = "a step does nothing until it is awaited: write `.await`"]
pub struct StepCall<'f, T> {
    ask: Ask<New<'f>>,
    kind: StepKind,
    name: Cow<'static, str>,
    read: fn(&Payload) -> Result<T, PayloadError>,
}

type Make<'f> = Box<dyn FnOnce() -> Made + Send + 'f>;

/// What is asked for, and what makes the value if it is the call that does.
struct New<'f> {
    request: Request,
    make: Option<Make<'f>>,
}

impl<'f, T> StepCall<'f, T> {
    pub(super) fn new(
        kind: StepKind,
        name: impl Into<Cow<'static, str>>,
        request: Request,
        read: fn(&Payload) -> Result<T, PayloadError>,
    ) -> Self {
        Self {
            ask: Ask::new(New {
                request,
                make: None,
            }),
            kind,
            name: name.into(),
            read,
        }
    }

    /// The call makes the value itself, unless the history holds it.
    pub(super) fn make(mut self, make: impl FnOnce() -> Made + Send + 'f) -> Self {
        if let Some(new) = self.ask.unasked() {
            new.make = Some(Box::new(make));
        }
        self
    }

    fn give(&self, given: Given) -> Poll<Result<T, StepError>> {
        match given.outcome {
            Outcome::Completed(payload) => match (self.read)(&payload) {
                Ok(value) => Poll::Ready(Ok(value)),
                Err(error) => {
                    // Divergence, and the function must not be able to swallow it: see `CommandCall`.
                    let frame = &given.frame;
                    frame.unreadable(given.position, self.kind, &self.name, &error);
                    Poll::Pending
                }
            },
            Outcome::Failed { failure, .. } => {
                let step = written(self.kind, &self.name);
                Poll::Ready(Err(StepError::new(step, Some(given.position), failure)))
            }
        }
    }
}

impl<T> Future for StepCall<'_, T> {
    type Output = Result<T, StepError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // No field is structurally pinned; the call is `Unpin`.
        let call = self.get_mut();
        let (kind, name) = (call.kind, &call.name);
        let claim = |frame: &Frame, new: New<'_>| {
            let claimed = frame.claim(Asking {
                kind,
                name: name.clone(),
                request: new.request,
            });
            if let Some(make) = new.make.filter(|_| claimed.open) {
                let unmade = Unmade(frame, claimed.position);
                frame.make(claimed.position, make());
                std::mem::forget(unmade);
            }
            claimed.position
        };
        match call.ask.poll(cx, claim) {
            Poll::Ready(Ok(given)) => call.give(given),
            Poll::Ready(Err(elsewhere)) => {
                Poll::Ready(Err(misplaced(call.kind, &call.name, elsewhere)))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

/// A step whose value is being made. If that panics and the function catches it, nobody waits for it.
struct Unmade<'a>(&'a Frame, Position);

impl Drop for Unmade<'_> {
    fn drop(&mut self) {
        self.0.forget(self.1);
    }
}

/// A step as the code wrote it.
fn written(kind: StepKind, name: &str) -> String {
    match kind {
        StepKind::Record => format!("record({name:?})"),
        StepKind::Command | StepKind::Now | StepKind::Random | StepKind::Uuid | StepKind::Timer => {
            format!("{name}()")
        }
    }
}

/// The error of a call that never became a step.
fn misplaced(kind: StepKind, name: &str, elsewhere: Elsewhere) -> StepError {
    let instead = match kind {
        StepKind::Now => "elsewhere ask the clock itself: `SystemTime::now()`",
        StepKind::Random | StepKind::Uuid | StepKind::Record => {
            "elsewhere make the value yourself, since nothing records it"
        }
        StepKind::Command | StepKind::Timer => {
            "elsewhere wait with the runtime's own timer, such as `tokio::time::sleep`"
        }
    };
    elsewhere.error(written(kind, name), instead)
}

impl Elsewhere {
    /// What a step that was awaited here is told.
    pub(super) fn error(self, step: String, instead: &str) -> StepError {
        let where_ = match self {
            Self::InCommand => "inside a command",
            Self::Outside => "outside an execution",
            Self::InAnother => "in another execution than it began in",
        };
        let message = format!(
            "`{step}` was awaited {where_}; it is a step of a `#[skail_function]`, recorded so that the \
             function goes on with the same when it runs again. Await it there; {instead}"
        );
        StepError::new(step, None, Failure::new(FailureKind::Misplaced, message))
    }
}

impl<T> fmt::Debug for StepCall<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (step, progress) = (written(self.kind, &self.name), self.ask.progress());
        write!(f, "StepCall(`{step}`, {progress})")
    }
}
