//! Runs command bodies, each attempt as a task of its own.
//!
//! Owns the task of an attempt: its wait for a place, its timeout, its panics.
//! Must never decide what follows from an attempt's end, and never touch a history.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tracing::Span;

use super::context::{AttemptContext, Current, enter};
use super::dependencies::{Hold, Leave};
use super::input::Input;
use super::places::{Place, place};
use super::shared::Shared;
use crate::clock::{BoxFuture, WorkGuard};
use crate::codec::{Payload, PayloadError};
use crate::descriptor::{Body, BodyFuture, BodyResult, CommandDescriptor};
use crate::error::{Advice, BodyError, Failure, FailureKind};
use crate::ids::Position;

/// What one attempt needs.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) command: &'static CommandDescriptor,
    pub(crate) context: Arc<AttemptContext>,
    pub(crate) arguments: Payload,
    pub(crate) timeout: Option<Duration>,
    /// The leave of what it calls, if that is a dependency.
    pub(crate) leave: Option<Leave>,
}

/// How one attempt ended.
#[derive(Debug)]
pub(crate) struct AttemptEnd {
    pub(crate) position: Position,
    pub(crate) attempt: u32,
    pub(crate) end: End,
    /// Keeps a virtual clock still until the driver has taken this in.
    #[expect(dead_code, reason = "held to be dropped")]
    pub(crate) working: WorkGuard,
}

/// See [`AttemptEnd`].
#[derive(Debug)]
pub(crate) enum End {
    /// It has not begun: it has its place, and waits for its start to be recorded.
    Placed(Place),
    /// The result.
    Completed(Payload),
    /// A failure.
    Failed(Failure),
    /// It did not begin: while it waited for its turn, what it calls went down.
    Held(Hold),
    /// The body of today cannot read the recorded arguments.
    ArgumentsUnreadable {
        parameter: &'static str,
        error: PayloadError,
    },
}

/// A running attempt; dropping it aborts the body.
#[derive(Debug)]
pub(crate) struct Running(AbortHandle);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Starts an attempt, in the place that is held for it or in the next that is free; its end goes into
/// `ends`.
#[allow(clippy::disallowed_methods, reason = "the engine keeps the handle")]
pub(crate) fn spawn(
    shared: &Arc<Shared>,
    attempt: Attempt,
    held: Option<Place>,
    ends: mpsc::UnboundedSender<AttemptEnd>,
) -> Running {
    let working = shared.clock.working();
    let shared = Arc::clone(shared);
    let task = tokio::spawn(async move {
        let position = attempt.context.position;
        let number = attempt.context.attempt.number;
        let (place, working) = match held {
            Some(place) => (place, working),
            None => place(&shared, attempt.command.body, working).await,
        };
        let context = Arc::clone(&attempt.context);
        let (end, working) = run_with_leave(&shared, attempt, working, &place).await;
        drop(place);
        let working = shared.lag(&context, working).await;
        // The driver may be gone: then nobody wants the end.
        let _ = ends.send(AttemptEnd {
            position,
            attempt: number,
            end,
            working,
        });
    });
    Running(task.abort_handle())
}

/// Waits for a place for the next attempt of a step; that it has one goes into `ends`.
#[allow(clippy::disallowed_methods, reason = "the engine keeps the handle")]
pub(crate) fn queue(
    shared: &Arc<Shared>,
    body: Body,
    position: Position,
    attempt: u32,
    ends: mpsc::UnboundedSender<AttemptEnd>,
) -> Running {
    let working = shared.clock.working();
    let shared = Arc::clone(shared);
    let task = tokio::spawn(async move {
        let (place, working) = place(&shared, body, working).await;
        let _ = ends.send(AttemptEnd {
            position,
            attempt,
            end: End::Placed(place),
            working,
        });
    });
    Running(task.abort_handle())
}

/// Runs the attempt and tells what it calls how it ended. An attempt that is aborted gives its leave back
/// by being dropped.
async fn run_with_leave(
    shared: &Shared,
    mut attempt: Attempt,
    working: WorkGuard,
    place: &Place,
) -> (End, WorkGuard) {
    let Some(leave) = attempt.leave.take() else {
        return run(shared, attempt, working, place).await;
    };
    match leave.begin(shared.clock.now()) {
        Ok(leave) => {
            let (end, working) = run(shared, attempt, working, place).await;
            leave.end(worked(&end), shared.clock.now(), shared.random());
            (end, working)
        }
        Err(hold) => (End::Held(hold), working),
    }
}

/// Whether what was called did its work: a permanent refusal is an answer too, and a result that cannot
/// be recorded is not its fault. `None` if it was not called.
fn worked(end: &End) -> Option<bool> {
    match end {
        End::Completed(_) => Some(true),
        End::Failed(failure) => Some(failure.advice == Advice::Permanent),
        End::Placed(_) | End::Held(_) | End::ArgumentsUnreadable { .. } => None,
    }
}

async fn run(
    shared: &Shared,
    attempt: Attempt,
    working: WorkGuard,
    place: &Place,
) -> (End, WorkGuard) {
    let substitute = shared.substitute(attempt.command, &attempt.arguments);
    let input = Input::new(
        Arc::clone(&shared.state),
        attempt.arguments,
        shared.settings.payload_limit,
    );
    let context = attempt.context;
    let span = tracing::info_span!(
        "command",
        execution = %context.execution,
        command = context.command,
        position = context.position.0,
        attempt = context.attempt.number,
        of = context.attempt.of,
    );
    let body = async {
        let body = match (substitute, attempt.command.body) {
            (Some(substitute), _) => substitute(input),
            (None, Body::Async(body)) => body(input),
            (None, Body::Blocking(body)) => {
                return run_blocking(context, span, body, input, Arc::clone(place)).await;
            }
        };
        let body = Some(body);
        AttemptBody {
            context,
            span,
            body,
        }
        .await
    };
    let Some(timeout) = attempt.timeout else {
        return (end_of(body.await), working);
    };
    let due = shared.clock.now().saturating_add(timeout);
    let mut deadline = shared.clock.sleep_until(due);
    // With a timeout it is time that may have to pass: a virtual clock is let go, but not before the body
    // has had its chance to end by itself.
    tokio::pin!(body);
    if let Some(settle) = shared.clock.settle() {
        tokio::select! {
            biased;
            ended = &mut body => return (end_of(ended), working),
            () = settle => {}
        }
    }
    drop(working);
    until(shared, body, &mut deadline, timeout).await
}

/// A body's end, or that of its time.
async fn until(
    shared: &Shared,
    body: impl Future<Output = Ended>,
    deadline: &mut BoxFuture<'static, ()>,
    timeout: Duration,
) -> (End, WorkGuard) {
    tokio::select! {
        biased;
        ended = body => (end_of(ended), shared.clock.working()),
        () = deadline => {
            let message = format!("the attempt took longer than its timeout of {timeout:?}");
            let working = shared.clock.working();
            (End::Failed(Failure::new(FailureKind::TimedOut, message)), working)
        }
    }
}

async fn run_blocking(
    context: Arc<AttemptContext>,
    span: Span,
    body: fn(Input) -> BodyResult,
    input: Input,
    place: Place,
) -> Ended {
    let run = move || {
        let _place = place;
        let _inside = span.entered();
        enter(Current::Command(context), || {
            catch_unwind(AssertUnwindSafe(|| body(input))).map_err(panic_text)
        })
    };
    match tokio::task::spawn_blocking(run).await {
        Ok(ended) => ended,
        // The runtime is being shut down and the body did not begin: nothing is to be recorded of that.
        Err(_) => std::future::pending().await,
    }
}

/// A body's result, or what it panicked with.
type Ended = Result<BodyResult, String>;

/// An async body that runs as its command and does not let a panic out, not even one in a destructor.
struct AttemptBody {
    context: Arc<AttemptContext>,
    /// What the body logs is told apart by it.
    span: Span,
    body: Option<BodyFuture>,
}

impl Future for AttemptBody {
    type Output = Ended;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Ended> {
        let this = self.get_mut();
        let inside = this.span.enter();
        let current = Current::Command(Arc::clone(&this.context));
        let slot = &mut this.body;
        let step = AssertUnwindSafe(|| {
            enter(current, || {
                let Some(body) = slot.as_mut() else {
                    return Poll::Pending;
                };
                let result = body.as_mut().poll(cx);
                if result.is_ready() {
                    *slot = None;
                }
                result
            })
        });
        let stepped = catch_unwind(step);
        drop(inside);
        match stepped {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(result)) => Poll::Ready(Ok(result)),
            Err(panic) => {
                let text = panic_text(panic);
                this.drop_body();
                Poll::Ready(Err(text))
            }
        }
    }
}

impl Drop for AttemptBody {
    fn drop(&mut self) {
        self.drop_body();
    }
}

impl AttemptBody {
    /// What the body does when it goes, it does as its command; how that ends is its own affair.
    fn drop_body(&mut self) {
        let Some(left) = self.body.take() else { return };
        let _inside = self.span.enter();
        let current = Current::Command(Arc::clone(&self.context));
        let gone = catch_unwind(AssertUnwindSafe(|| enter(current, || drop(left))));
        gone.unwrap_or_else(|panic| drop(panic_text(panic)));
    }
}

/// What a panic said, if it said it in words.
pub(crate) fn panic_text(panic: Box<dyn Any + Send>) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    // A payload whose destructor panics as well must not get away with it.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(again);
    }
    text.unwrap_or_else(|| "a panic without a text".to_owned())
}

fn end_of(ended: Ended) -> End {
    match ended {
        Ok(Ok(result)) => End::Completed(result),
        Ok(Err(BodyError::User(failure))) => End::Failed(failure),
        Ok(Err(BodyError::Result(error))) => {
            End::Failed(Failure::new(FailureKind::Unrecordable, error.to_string()))
        }
        Ok(Err(BodyError::Arguments { parameter, error })) => {
            End::ArgumentsUnreadable { parameter, error }
        }
        Err(panic) => End::Failed(Failure::new(FailureKind::Panicked, panic)),
    }
}
