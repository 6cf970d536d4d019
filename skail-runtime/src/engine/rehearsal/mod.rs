//! A history, run against the code of today, and nothing comes of it.
//!
//! The driver of live runs does it, on a shared part that is shutting down from the beginning: so the
//! history is delivered, every step is compared, and when it is time for the first body the driver lets
//! the execution go. What it records goes to a pad. Owns no verdict of its own, but for histories that
//! have ended, which live runs never see. Must never run a body.

mod scratch;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use tracing::dispatcher::{Dispatch, with_default};

use self::scratch::Scratch;
use super::driver::{Driver, Parts};
use super::frame::Frame;
use super::recorder::{Recorder, Stop};
use super::shared::Shared;
use crate::history::{BlockReason, Event, HistoryError, Replay, Status};
use crate::ids::{Epoch, ExecutionId, Sequence};
use crate::store::{Lease, Store};

/// How much of a result a message shows, in characters.
const SHOWN: usize = 200;

/// What code and history came to.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// They agree as far as the history goes.
    Agree,
    /// They do not: an execution with this history would be blocked, or end otherwise.
    Differ(BlockReason),
}

/// Why a history could not be rehearsed.
#[derive(Debug)]
pub(crate) enum Unplayable {
    /// This build has no such function.
    Unregistered(String),
    /// Its events cannot have followed one another.
    Damaged(HistoryError),
    /// It does not begin with a start.
    Headless,
    /// The rehearsal itself broke off.
    Broken(Stop),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Rehearsal {
    shared: Arc<Shared>,
    pad: Arc<Scratch>,
}

impl Rehearsal {
    /// A rehearsal by what `assemble` makes around a store.
    pub(crate) fn new<E>(
        assemble: impl FnOnce(Arc<dyn Store>) -> Result<Shared, E>,
    ) -> Result<Self, E> {
        let pad = Arc::new(Scratch::default());
        let shared = assemble(Arc::clone(&pad) as Arc<dyn Store>)?;
        // From the beginning: no body ever starts.
        shared.stopping.send_replace(true);
        Ok(Self {
            shared: Arc::new(shared),
            pad,
        })
    }

    /// Runs a history. Of one that is at rest the rest is taken off first: what is asked is whether the
    /// code comes to it again, or, for one that is blocked, whether it would go on now.
    pub(crate) async fn run(
        &mut self,
        id: &ExecutionId,
        mut events: Vec<Event>,
    ) -> Result<Verdict, Unplayable> {
        let replay = Replay::read(events.iter().cloned()).map_err(Unplayable::Damaged)?;
        let at_rest = replay.status().is_some_and(Status::at_rest);
        let rest = if at_rest { events.pop() } else { None };
        let replay = match rest {
            None => replay,
            Some(_) => Replay::read(events).map_err(Unplayable::Damaged)?,
        };
        let (name, arguments) = replay.started().ok_or(Unplayable::Headless)?;
        let (name, arguments) = (name.to_owned(), arguments.clone());
        let Some(function) = self.shared.registry.function(&name) else {
            return Err(Unplayable::Unregistered(name));
        };
        let lease = Lease {
            execution: id.clone(),
            epoch: Epoch(0),
        };
        let parts = Parts {
            function,
            recorder: Recorder::new(Arc::clone(&self.shared), lease, replay.length()),
            returned: replay.length() > Sequence(1),
            replay,
            arguments,
            suspect: false,
        };
        let mut working = Some(self.shared.clock.working());
        let driver = Driver::new(&self.shared, parts, &mut working);
        let frame = Arc::clone(&driver.frame);
        self.pad.take();
        silently(Box::pin(driver.run()))
            .await
            .map_err(Unplayable::Broken)?;
        Ok(judge(&name, &frame, self.pad.take().pop(), rest.as_ref()))
    }
}

/// What a rehearsed execution would come to is no news: nobody is to be alarmed by it.
async fn silently<F: Future>(future: F) -> F::Output {
    let nobody = Dispatch::none();
    let mut future = pin!(future);
    poll_fn(|cx| with_default(&nobody, || future.as_mut().poll(cx))).await
}

/// Compares how the code ended the history with how it had ended.
fn judge(function: &str, frame: &Frame, now: Option<Event>, before: Option<&Event>) -> Verdict {
    if let Some(Event::Blocked { reason, .. }) = now {
        return Verdict::Differ(reason);
    }
    let Some(Event::Completed { result, .. }) = before else {
        // It had failed, and comes to something else now: that is what one hopes for.
        return Verdict::Agree;
    };
    let came_to = match now {
        Some(Event::Completed { result: now, .. }) if now.digest() == result.digest() => {
            return Verdict::Agree;
        }
        Some(Event::Completed { result: now, .. }) => {
            format!("the code came to {}", now.preview(SHOWN))
        }
        Some(Event::FunctionAttemptFailed { failure, .. }) => {
            format!("the code failed: {failure}")
        }
        _ => match frame.first_new() {
            Some(step) => format!(
                "the code asked for one more step, {} `{}` at position {}",
                step.kind, step.name, step.position
            ),
            None => "the code came to no end".to_owned(),
        },
    };
    let position = frame.first_new().map(|step| step.position);
    Verdict::Differ(BlockReason {
        message: format!(
            "the code of `{function}` and the history disagree: the history ended with the result {}, and \
             {came_to}. It has ended, and stays as it is; executions that are still on this way will end \
             otherwise.",
            result.preview(SHOWN)
        ),
        position,
        changed_arguments: None,
    })
}
