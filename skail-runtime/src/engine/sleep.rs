//! Waiting for time to pass, in a function.
//!
//! Owns what users call for it. When a wait is over, [`timers`](super::timers) knows.

use std::time::Duration;

use super::request::{Request, Timer, Wait};
use super::step_call::StepCall;
use crate::clock::Timestamp;
use crate::codec::Payload;
use crate::history::StepKind;

/// Waits so long.
///
/// When the wait ends is recorded when it begins: a crash, a restart or a deploy neither restarts nor
/// shortens it, and code that waits longer from now on changes the waits that begin from now on. A long
/// wait needs no memory: after the [warm period](crate::Builder::warm_period) the function is dropped, and
/// run again when the time has come.
///
/// It never ends early. A machine's clock that is set back makes it longer by that much, but only if the
/// process is restarted meanwhile; one that is set forward ends it when the new time says so. Zero is over
/// at once, and is a step with its own position all the same, so a deploy can change it. A time too long
/// to be written down, such as [`Duration::MAX`], is for ever.
///
/// ```
/// # use skail_runtime::prelude::*;
/// # use std::time::Duration;
/// # #[skail_command]
/// # async fn send_reminder(customer: u32) -> anyhow::Result<()> { let _ = customer; Ok(()) }
/// #[skail_function]
/// async fn remind(customer: u32) -> anyhow::Result<()> {
///     sleep(Duration::from_secs(30 * 24 * 3600)).await?;
///     send_reminder(customer).await?;
///     Ok(())
/// }
/// ```
///
/// # Errors
/// Awaited, it gives a [`StepError`](crate::StepError) of kind
/// [`Misplaced`](crate::FailureKind::Misplaced) anywhere but in a function.
pub fn sleep(duration: Duration) -> StepCall<'static, ()> {
    timer("sleep", Wait::For(duration))
}

/// Waits until this time: a [`SystemTime`](std::time::SystemTime), as [`now`](crate::now) gives it, or a
/// [`Timestamp`]. Otherwise as [`sleep`]; a time that has passed is over at once.
///
/// ```
/// # use skail_runtime::prelude::*;
/// # use std::time::{Duration, SystemTime};
/// # #[skail_command]
/// # async fn open_sale(article: u32) -> anyhow::Result<()> { let _ = article; Ok(()) }
/// #[skail_function]
/// async fn sell(article: u32, from: SystemTime) -> anyhow::Result<()> {
///     sleep_until(from).await?;
///     open_sale(article).await?;
///     Ok(())
/// }
/// ```
///
/// # Errors
/// As [`sleep`].
pub fn sleep_until(at: impl Into<Timestamp>) -> StepCall<'static, ()> {
    timer("sleep_until", Wait::Until(at.into()))
}

fn timer(name: &'static str, wait: Wait) -> StepCall<'static, ()> {
    let over = |_: &Payload| Ok(());
    let elapses = false;
    let request = Request::Timer(Timer { wait, elapses });
    StepCall::new(StepKind::Timer, name, request, over)
}
