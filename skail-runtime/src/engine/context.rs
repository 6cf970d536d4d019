//! Which execution or command the running code belongs to, and what a command may ask about itself.
//!
//! Owns the task-local that makes a context argument unnecessary. Must never change an execution.

use std::sync::{Arc, OnceLock};

use super::frame::Frame;
use crate::ids::{ExecutionId, Position};

/// Whose code is running.
#[derive(Debug, Clone)]
pub(crate) enum Current {
    /// A function's: its calls become steps.
    Function(Arc<Frame>),
    /// A command's: it may ask about its attempt.
    Command(Arc<AttemptContext>),
}

tokio::task_local! {
    static CURRENT: Current;
}

/// Runs `poll` as code of `current`.
pub(crate) fn enter<R>(current: Current, poll: impl FnOnce() -> R) -> R {
    CURRENT.sync_scope(current, poll)
}

/// Whose code this is, if it is anybody's.
pub(crate) fn current() -> Option<Current> {
    CURRENT.try_with(Clone::clone).ok()
}

/// What one attempt of a command knows of itself.
#[derive(Debug)]
pub(crate) struct AttemptContext {
    pub(crate) execution: ExecutionId,
    pub(crate) position: Position,
    pub(crate) command: &'static str,
    pub(crate) attempt: AttemptInfo,
    pub(crate) business_key: OnceLock<String>,
}

/// Which attempt of a command is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AttemptInfo {
    /// The number of this attempt, from 1.
    pub number: u32,
    /// How many there may be: 1 + `retry_count`.
    pub of: u32,
}

fn attempt_context() -> Option<Arc<AttemptContext>> {
    match current() {
        Some(Current::Command(context)) => Some(context),
        Some(Current::Function(_)) | None => None,
    }
}

/// Which attempt of the running command this is: for logs, and for what may be tried only once.
///
/// ```
/// use skail_runtime::attempt;
/// // Outside a command, in a unit test of a body for instance, it is the first of one.
/// assert_eq!((attempt().number, attempt().of), (1, 1));
/// ```
#[must_use]
pub fn attempt() -> AttemptInfo {
    attempt_context().map_or(AttemptInfo { number: 1, of: 1 }, |context| context.attempt)
}

/// The idempotency key of the running command: the same in every attempt, every redelivery and every
/// process, different for every call. Send it along with the effect, so that whoever receives it twice
/// can tell.
///
/// With `#[skail_command(idempotency_key = "charge-{invoice}")]` it is that business key, filled from the
/// arguments; otherwise it is made of the execution's id, the position and the command's name.
///
/// Outside a command there is no such key: in a unit test of a body, and in a task or thread that a body
/// spawned, it is another one at each call, and a warning is logged. Ask in the body and hand it on.
///
/// ```
/// # use skail_runtime::idempotency_key;
/// assert_ne!(idempotency_key(), idempotency_key());
/// ```
#[must_use]
pub fn idempotency_key() -> String {
    match attempt_context() {
        // One key for all would make a receiver take different effects for the same one.
        None => {
            tracing::warn!(
                "idempotency_key() was called outside of a command's body: it gives a key that is \
                 different at each call. Ask in the body, and hand it to the tasks that it spawns"
            );
            format!("outside-an-execution-{}", uuid::Uuid::now_v7())
        }
        Some(context) => context.business_key.get().cloned().unwrap_or_else(|| {
            format!(
                "{}/{}/{}",
                context.execution, context.position, context.command
            )
        }),
    }
}

/// Sets the business key of the running attempt; the first one holds.
pub(crate) fn set_business_key(key: String) {
    if let Some(context) = attempt_context() {
        let _ = context.business_key.set(key);
    }
}
