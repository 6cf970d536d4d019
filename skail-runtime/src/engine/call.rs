//! The calls of commands and of functions, before and while they are awaited.
//!
//! A call claims its position at its first poll and not before, so making calls in one order and
//! awaiting them in another swaps nothing. Must never run a body: it only asks, and waits.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::ask::{Ask, Elsewhere, Given};
use super::frame::Frame;
use super::input::CallArguments;
use super::request::{Asking, CommandRequest, Request};
use crate::codec::{Payload, PayloadError};
use crate::descriptor::{CommandDescriptor, CommandPolicy, FunctionDescriptor};
use crate::error::{CommandError, Failure, FailureKind};
use crate::history::{Outcome, StepKind};
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
    ask: Ask<CommandRequest>,
    command: &'static CommandDescriptor,
    result: PhantomData<fn() -> T>,
}

/// Makes one call again and again.
#[derive(Debug)]
pub(crate) struct Repeatable<T> {
    request: CommandRequest,
    result: PhantomData<fn() -> T>,
}

impl<T> Repeatable<T> {
    pub(crate) fn command(&self) -> &'static str {
        self.request.descriptor.name
    }

    pub(crate) fn call(&self) -> CommandCall<T> {
        CommandCall {
            ask: Ask::new(self.request.clone()),
            command: self.request.descriptor,
            result: PhantomData,
        }
    }
}

impl<T> CommandCall<T> {
    pub(crate) fn new(command: &'static CommandDescriptor, arguments: CallArguments) -> Self {
        let request = CommandRequest {
            descriptor: command,
            policy: command.policy,
            arguments: arguments.finish(),
        };
        Self {
            ask: Ask::new(request),
            command,
            result: PhantomData,
        }
    }

    /// What makes the same call as often as need be.
    pub(crate) fn repeatable(mut self) -> Repeatable<T> {
        let request = self.ask.unasked().cloned();
        Repeatable {
            request: request
                .expect("a call that was polled is a step, and there is one of it only"),
            result: PhantomData,
        }
    }

    fn with_policy(mut self, change: impl FnOnce(&mut CommandPolicy)) -> Self {
        if let Some(request) = self.ask.unasked() {
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
    fn misplaced(&self, elsewhere: Elsewhere) -> CommandError {
        let where_ = match elsewhere {
            Elsewhere::InCommand => "inside another command",
            Elsewhere::Outside => "outside an execution",
            Elsewhere::InAnother => "in another execution than it began in",
        };
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
    fn give(&self, given: Given) -> Poll<Result<T, CommandError>> {
        match given.outcome {
            Outcome::Completed(payload) => match payload.decode() {
                Ok(value) => Poll::Ready(Ok(value)),
                Err(error) => {
                    // Divergence, and the function must not be able to swallow it: it is never woken
                    // again, and the driver blocks the execution.
                    let (kind, name) = (StepKind::Command, self.command.name);
                    given.frame.unreadable(given.position, kind, name, &error);
                    Poll::Pending
                }
            },
            Outcome::Failed {
                attempts, failure, ..
            } => Poll::Ready(Err(CommandError::new(
                self.command.name,
                Some(given.position),
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
        let name = call.command.name;
        let claim = |frame: &Frame, request| {
            let asking = Asking {
                kind: StepKind::Command,
                name: name.into(),
                request: Request::Command(request),
            };
            frame.claim(asking).position
        };
        match call.ask.poll(cx, claim) {
            Poll::Ready(Ok(given)) => call.give(given),
            Poll::Ready(Err(elsewhere)) => Poll::Ready(Err(call.misplaced(elsewhere))),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T> fmt::Debug for CommandCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, progress) = (self.command.name, self.ask.progress());
        write!(f, "CommandCall(`{name}`, {progress})")
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
