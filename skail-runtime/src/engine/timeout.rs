//! A step against a timer, in a function.
//!
//! Owns the race of the two, and nothing of either.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::request::{Request, Timer, Wait};
use super::step_call::StepCall;
use crate::error::Elapsed;
use crate::history::StepKind;

/// Waits for `step`, but no longer than `duration`.
///
/// `step` is any call (a command, a [`sleep`](crate::sleep), another `timeout`) or an `async` block of
/// several. If it ends in time, its output is in `Ok`. If not, it is dropped: a command's body is aborted,
/// and what it would have returned is never delivered.
///
/// The timer is a step like [`sleep`](crate::sleep), with its own position after that of `step`: it is
/// recorded when both begin, survives crashes and deploys, and takes no memory when it is long. If the time
/// has passed when the process starts again, a command that did not end before is not run any more. With a
/// duration of zero only a value, or another wait that is over, comes in time.
///
/// This is one timer for the whole step, with all attempts of a command and the waits between them; the
/// [timeout of a command](crate::CommandCall::timeout) is for each of its attempts.
///
/// ```
/// # use skail_runtime::prelude::*;
/// # use std::time::Duration;
/// # #[skail_command]
/// # async fn ask_the_bank(order: u32) -> anyhow::Result<bool> { let _ = order; Ok(true) }
/// # #[skail_command]
/// # async fn ask_a_person(order: u32) -> anyhow::Result<bool> { let _ = order; Ok(true) }
/// #[skail_function]
/// async fn approve(order: u32) -> anyhow::Result<bool> {
///     match timeout(Duration::from_secs(3600), ask_the_bank(order)).await {
///         Ok(answer) => Ok(answer?),
///         Err(Elapsed { .. }) => Ok(ask_a_person(order).await?),
///     }
/// }
/// ```
///
/// # Errors
/// Awaited, it gives [`Elapsed`] if `step` did not end in time. A function that passes that on with `?` is
/// redelivered like after any error, and if nothing durable followed, the next attempt has the whole time
/// again. Its kind is [`Misplaced`](crate::FailureKind::Misplaced) anywhere but in a function, if `step`
/// does not say so itself.
pub fn timeout<F: IntoFuture>(duration: Duration, step: F) -> Timeout<F::IntoFuture> {
    let timer = Timer {
        wait: Wait::For(duration),
        elapses: true,
    };
    let timer = StepCall::new(
        StepKind::Timer,
        "timeout",
        Request::Timer(timer),
        |_| Ok(()),
    );
    let step = Box::pin(step.into_future());
    Timeout(Some(Race { step, timer }))
}

/// A step against a timer, made by [`timeout`].
#[must_use = "a step does nothing until it is awaited: write `.await`"]
pub struct Timeout<F>(Option<Race<F>>);

struct Race<F> {
    step: Pin<Box<F>>,
    timer: StepCall<'static, ()>,
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // No field is structurally pinned; the step is on the heap.
        let both = &mut self.get_mut().0;
        let Some(race) = both else {
            unreachable!("a timeout was polled after its end")
        };
        // The step first: what is there at once needs no timer.
        let output = match race.step.as_mut().poll(cx) {
            Poll::Ready(output) => Ok(output),
            Poll::Pending => match Pin::new(&mut race.timer).poll(cx) {
                Poll::Ready(Err(error)) => Err(Elapsed::new(error)),
                // Its end is an error; it has no other.
                Poll::Ready(Ok(())) | Poll::Pending => return Poll::Pending,
            },
        };
        // The loser is dropped now, however long the winner's output is kept with what it came from.
        *both = None;
        Poll::Ready(output)
    }
}

impl<F> fmt::Debug for Timeout<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(race) => write!(f, "Timeout({:?})", race.timer),
            None => f.write_str("Timeout(done)"),
        }
    }
}
