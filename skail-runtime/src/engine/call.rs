//! What a call is before and while it is awaited.
//!
//! A call claims its position at its first poll and not before, so making calls in one order and
//! awaiting them in another swaps nothing. Must never run a body: it only asks, and waits.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::context::{Current, current};
use super::frame::{Frame, Request};
use super::input::CallArguments;
use crate::codec::{Payload, PayloadError};
use crate::descriptor::{CommandDescriptor, CommandPolicy, FunctionDescriptor};
use crate::error::{CommandError, Failure, FailureKind};
use crate::history::Outcome;
use crate::ids::Position;
use crate::retry::Backoff;

/// A call of a command, made by its constructor: awaited inside a function it becomes a step and gives
/// `Result<T, CommandError>`.
///
/// It does nothing until it is polled. It works with `join!`, `try_join_all`, `FuturesUnordered` and
/// `select! { biased; … }`; a call that is dropped before its end has its body aborted, and what the body
/// would have returned is never delivered.
///
/// Each part of the command's retry policy can be overridden for one call:
///
/// ```
/// # use skail_runtime::prelude::*;
/// # use std::time::Duration;
/// #[skail_command(retry_count = 8)]
/// async fn charge_card(invoice: String) -> anyhow::Result<()> {
///     # let _ = invoice;
///     Ok(())
/// }
///
/// #[skail_function]
/// async fn process_order(invoice: String) -> anyhow::Result<()> {
///     charge_card(invoice).retry_count(3).timeout(Duration::from_secs(10)).await?;
///     Ok(())
/// }
/// ```
#[must_use = "a command does nothing until it is awaited: write `.await`"]
pub struct CommandCall<T> {
    state: State,
    command: &'static CommandDescriptor,
    result: PhantomData<fn() -> T>,
}

enum State {
    /// Not polled yet.
    New(Request),
    /// A step of this frame.
    Claimed {
        frame: Arc<Frame>,
        position: Position,
    },
    /// Its outcome was given.
    Done,
}

impl<T> CommandCall<T> {
    pub(crate) fn new(command: &'static CommandDescriptor, arguments: CallArguments) -> Self {
        let request = Request {
            descriptor: command,
            policy: command.policy,
            arguments: arguments.finish(),
        };
        Self {
            state: State::New(request),
            command,
            result: PhantomData,
        }
    }

    fn with_policy(mut self, change: impl FnOnce(&mut CommandPolicy)) -> Self {
        if let State::New(request) = &mut self.state {
            change(&mut request.policy);
        }
        self
    }

    /// Attempts after the first, for this call; 0 makes it at most once. Without effect once the call was
    /// polled, like the other overrides.
    pub fn retry_count(self, retry_count: u32) -> Self {
        self.with_policy(|policy| policy.retry_count = retry_count)
    }

    /// The wait before each redelivery, for this call.
    pub fn backoff(self, backoff: Backoff) -> Self {
        self.with_policy(|policy| policy.backoff = Some(backoff))
    }

    /// The longest that one attempt may take, for this call. Time spent waiting for its turn
    /// ([`max_running_commands`](crate::Builder::max_running_commands)) does not count.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with_policy(|policy| policy.timeout = Some(timeout))
    }

    /// The longest wait that an error may ask for with [`retry_after`](crate::retry_after), for this
    /// call.
    pub fn max_retry_after(self, longest: Duration) -> Self {
        self.with_policy(|policy| policy.max_retry_after = Some(longest))
    }

    /// An error of a call that never became a step.
    fn misplaced(&self, where_: &str) -> CommandError {
        let message = format!(
            "`{}` was awaited {where_}; a command becomes durable only as a step of a \
             `#[skail_function]`. Call it there, or call `{}::body(…)` for a plain run that nothing \
             records",
            self.command.name, self.command.name
        );
        CommandError::new(
            self.command.name,
            None,
            0,
            Failure::new(FailureKind::Misplaced, message),
        )
    }
}

impl<T: DeserializeOwned> CommandCall<T> {
    fn give(
        &self,
        frame: &Frame,
        position: Position,
        outcome: Outcome,
    ) -> Poll<Result<T, CommandError>> {
        match outcome {
            Outcome::Completed(payload) => match payload.decode() {
                Ok(value) => Poll::Ready(Ok(value)),
                Err(error) => {
                    // Divergence, and the function must not be able to swallow it: it is never woken
                    // again, and the driver blocks the execution.
                    frame.unreadable(position, self.command.name, &error);
                    Poll::Pending
                }
            },
            Outcome::Failed {
                attempts, failure, ..
            } => Poll::Ready(Err(CommandError::new(
                self.command.name,
                Some(position),
                attempts,
                failure,
            ))),
        }
    }
}

impl<T: DeserializeOwned> Future for CommandCall<T> {
    type Output = Result<T, CommandError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // No field is structurally pinned; the call is `Unpin`.
        let call = self.get_mut();
        let here = match current() {
            Some(Current::Function(frame)) => Ok(frame),
            Some(Current::Command(_)) => Err("inside another command"),
            None => Err("outside an execution"),
        };
        let here = match here {
            Ok(here) => here,
            Err(where_) => {
                let error = call.misplaced(where_);
                call.forget();
                return Poll::Ready(Err(error));
            }
        };
        let (frame, position) = match std::mem::replace(&mut call.state, State::Done) {
            State::New(request) => {
                let position = here.claim(request);
                (here, position)
            }
            State::Claimed { frame, position } => {
                if !Arc::ptr_eq(&frame, &here) {
                    frame.forget(position);
                    return Poll::Ready(Err(
                        call.misplaced("in another execution than it began in")
                    ));
                }
                (frame, position)
            }
            // What every future may do when it is polled after its end; a function's panic is caught.
            State::Done => unreachable!("`{}` was polled after its end", call.command.name),
        };
        match frame.poll(position, cx.waker()) {
            Poll::Ready(outcome) => call.give(&frame, position, outcome),
            Poll::Pending => {
                call.state = State::Claimed { frame, position };
                Poll::Pending
            }
        }
    }
}

impl<T> CommandCall<T> {
    fn forget(&mut self) {
        if let State::Claimed { frame, position } = std::mem::replace(&mut self.state, State::Done)
        {
            frame.forget(position);
        }
    }
}

impl<T> Drop for CommandCall<T> {
    fn drop(&mut self) {
        self.forget();
    }
}

impl<T> fmt::Debug for CommandCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::New(_) => "not awaited yet".to_owned(),
            State::Claimed { position, .. } => format!("waiting at position {position}"),
            State::Done => "done".to_owned(),
        };
        write!(f, "CommandCall(`{}`, {state})", self.command.name)
    }
}

/// A call of a function, made by its constructor: [`Skail::start`](crate::Skail::start) makes it an
/// execution.
#[must_use = "a function does nothing until it is started: `skail.start(…)`"]
pub struct FunctionCall<T> {
    pub(crate) descriptor: &'static FunctionDescriptor,
    pub(crate) arguments: Result<Payload, (&'static str, PayloadError)>,
    result: PhantomData<fn() -> T>,
}

impl<T> FunctionCall<T> {
    pub(crate) fn new(descriptor: &'static FunctionDescriptor, arguments: CallArguments) -> Self {
        Self {
            descriptor,
            arguments: arguments.finish(),
            result: PhantomData,
        }
    }
}

impl<T> fmt::Debug for FunctionCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FunctionCall(`{}`)", self.descriptor.name)
    }
}
