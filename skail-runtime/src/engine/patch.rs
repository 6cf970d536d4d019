//! Changing the code of a function under running executions.
//!
//! Owns what users call for it. The rule itself is the cursor's:
//! [`Replay::patched`](crate::history::Replay::patched).

use super::ask::here;
use crate::error::StepError;

/// Whether this execution takes the new way of the change `id`: `true` where it comes to this place for
/// the first time with the change deployed, `false` where its history was written by code without it.
///
/// ```
/// # use skail_runtime::prelude::*;
/// # #[skail_command]
/// # async fn charge(order: u32) -> anyhow::Result<()> { let _ = order; Ok(()) }
/// # #[skail_command]
/// # async fn check_fraud(order: u32) -> anyhow::Result<bool> { let _ = order; Ok(true) }
/// #[skail_function]
/// async fn process(order: u32) -> anyhow::Result<bool> {
///     if patched("antifraud-2026-11").await? && !check_fraud(order).await? {
///         return Ok(false);
///     }
///     charge(order).await?;
///     Ok(true)
/// }
/// ```
///
/// # The rule
///
/// The call takes no position, so on a history that is older than the change every step stays where it
/// was. It is `false` if the history holds any step that was asked for after this place, and else `true`;
/// that it was `true` is recorded before anything that comes after, so both stay as they are in every
/// replay. It follows:
///
/// - Each call is decided for itself. In a loop, the rounds that an older history holds stay old, and the
///   first one after it is new. To keep a whole execution as it is, ask before the loop.
/// - Changes are independent: any number of ids, in any order, nested too. An id is for one change; used
///   again for a later one at the same place, it says of the later one what it said of the first.
/// - A step that was running when the old process stopped, and of which nothing was recorded, is not in
///   the history: at its place the new way is taken, though its effect may have happened. Let changed code
///   cope with that, or keep the [`idempotency_key`](macro@crate::skail_command#options) of the effect.
/// - Once no execution is left that took the old way, the condition can be deleted and the new code stays.
///   One that was overlooked is [`Blocked`](crate::history::Status::Blocked) with a message, and goes on
///   when the condition is back.
///
/// # Errors
/// Awaited, it gives a [`StepError`] of kind [`Misplaced`](crate::FailureKind::Misplaced) anywhere but in
/// a function.
#[allow(
    clippy::unused_async,
    reason = "whose code it is, is known when it is polled"
)]
pub async fn patched(id: &str) -> Result<bool, StepError> {
    match here() {
        Ok(frame) => Ok(frame.patched(id)),
        Err(elsewhere) => {
            let instead = "elsewhere there is no history that could be older than the code";
            Err(elsewhere.error(format!("patched({id:?})"), instead))
        }
    }
}
