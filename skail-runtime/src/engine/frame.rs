//! The steps of one running function: which were asked for, which have their outcome.
//!
//! The one meeting point of the function's calls and its driver. A call claims the next position when it
//! is first polled, so the order of positions is the order of first polls and nothing else: not of
//! construction, not of completion, not of dropping. Owns no wait and no task; must never run anything.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::request::{Asking, Made, Request, Source};
use crate::clock::Timestamp;
use crate::codec::PayloadError;
use crate::history::{
    BlockReason, Delivery, Divergence, Event, Outcome, Recorded, Replay, Step, StepKind,
};
use crate::ids::Position;

/// A step that the driver has to bring to its end.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) step: Step,
    pub(crate) request: Request,
    /// What the history knows of it.
    pub(crate) recorded: Option<Recorded>,
    /// How many completions the function had got when it asked.
    pub(crate) after: u64,
    /// Whether its attempts were spent before, in an earlier attempt of the function.
    pub(crate) again: bool,
}

/// The place that a call got.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claimed {
    pub(crate) position: Position,
    /// Whether the driver has yet to bring the step to its end.
    pub(crate) open: bool,
}

/// A failure that the function was given.
#[derive(Debug, Clone, Copy)]
struct DeliveredFailure {
    position: Position,
    /// Its place among the completions delivered, from 1.
    delivery: u64,
    unrepeatable: bool,
}

#[derive(Debug)]
enum Slot {
    Waiting(Option<Waker>),
    Ready(Outcome),
}

#[derive(Debug, Default)]
struct Inner {
    replay: Replay,
    next_position: u32,
    delivered: u64,
    slots: HashMap<Position, Slot>,
    /// How many slots wait for their outcome.
    waiting: usize,
    asked: Vec<Asked>,
    dropped: Vec<Position>,
    failures: Vec<DeliveredFailure>,
    /// Failures that came when their call was gone: nothing can have been built on them.
    unseen: Vec<Position>,
    /// The latest point, counted in deliveries, at which a step was asked for that left a mark: a record
    /// in the history, or a body that began to run. Failures delivered up to there were built on.
    built_on: u64,
    /// The first step that the history does not know.
    first_new: Option<Step>,
    /// Where the code took the new way of a change, and no step that came after is recorded yet.
    patches: Vec<(String, Position)>,
    stop: Option<BlockReason>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Frame {
    function: &'static str,
    inner: Mutex<Inner>,
}

impl Frame {
    pub(crate) fn new(function: &'static str, replay: Replay) -> Self {
        Self {
            function,
            inner: Mutex::new(Inner {
                replay,
                ..Inner::default()
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic while this is held is impossible short of memory running out; what is inside is valid
        // at every point all the same.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call is polled for the first time: it gets the next position.
    pub(crate) fn claim(&self, asking: Asking) -> Claimed {
        let inner = &mut *self.lock();
        let position = Position(inner.next_position);
        inner.next_position += 1;
        let step = asking.step(position);
        inner.slots.insert(position, Slot::Waiting(None));
        inner.waiting += 1;
        let mut open = false;
        match inner.replay.ask(&step) {
            Ok(recorded) => {
                if recorded.is_some() {
                    inner.built_on = inner.built_on.max(inner.delivered);
                } else {
                    inner.first_new.get_or_insert_with(|| step.clone());
                }
                open = !recorded.as_ref().is_some_and(|recorded| recorded.finished);
                if open {
                    let after = inner.delivered;
                    let again = inner.replay.was_dropped(position);
                    inner.asked.push(Asked {
                        step,
                        request: asking.request,
                        recorded,
                        after,
                        again,
                    });
                }
            }
            Err(divergence) => inner.stop(&divergence, self.function),
        }
        Claimed { position, open }
    }

    /// The value of a step that its call makes itself.
    pub(crate) fn make(&self, position: Position, made: Made) {
        let inner = &mut *self.lock();
        if let Some(asked) = inner.asked_at(position) {
            inner.asked[asked].request = Request::Value(Source::Made(made));
        }
    }

    /// Whether the code takes the new way of the change `id`. It takes no position: on a history that is
    /// older than the change every step keeps the one that it had.
    pub(crate) fn patched(&self, id: &str) -> bool {
        let inner = &mut *self.lock();
        let position = Position(inner.next_position);
        inner
            .replay
            .patched(id, inner.next_position)
            .unwrap_or_else(|| {
                let known = |(there, at): &(String, Position)| there == id && *at == position;
                if !inner.patches.iter().any(known) {
                    inner.patches.push((id.to_owned(), position));
                }
                true
            })
    }

    /// The new ways that were taken since the last call, to be recorded before any step that came after.
    pub(crate) fn take_patches(&self, at: Timestamp) -> Vec<Event> {
        let taken = std::mem::take(&mut self.lock().patches);
        let event = |(id, position)| Event::Patched { at, id, position };
        taken.into_iter().map(event).collect()
    }

    /// The outcome of a step, once it was delivered.
    pub(crate) fn poll(&self, position: Position, waker: &Waker) -> Poll<Outcome> {
        let inner = &mut *self.lock();
        match inner.slots.remove(&position) {
            Some(Slot::Ready(outcome)) => Poll::Ready(outcome),
            Some(Slot::Waiting(before)) => {
                let waker = before
                    .filter(|before| before.will_wake(waker))
                    .unwrap_or_else(|| waker.clone());
                inner.slots.insert(position, Slot::Waiting(Some(waker)));
                Poll::Pending
            }
            // Its outcome was taken, and could not be read: the frame is stopped.
            None => Poll::Pending,
        }
    }

    /// A call was dropped before it had its outcome.
    pub(crate) fn forget(&self, position: Position) {
        let inner = &mut *self.lock();
        if let Some(Slot::Waiting(_)) = inner.slots.remove(&position) {
            inner.waiting -= 1;
        }
        if let Some(asked) = inner.asked_at(position) {
            inner.asked.remove(asked);
        }
        inner.dropped.push(position);
    }

    /// A recorded result cannot be read as the type that the call wants.
    pub(crate) fn unreadable(
        &self,
        position: Position,
        kind: StepKind,
        name: &str,
        error: &PayloadError,
    ) {
        let divergence = Divergence::Unreadable {
            position,
            kind,
            name: name.to_owned(),
            reason: error.to_string(),
        };
        self.lock().stop(&divergence, self.function);
    }

    /// Hands an outcome to the call that waits for it. `false` if the call is gone.
    pub(crate) fn deliver(&self, delivery: Delivery) -> bool {
        let waker = {
            let inner = &mut *self.lock();
            let Some(slot) = inner.slots.get_mut(&delivery.position) else {
                inner.unseen.extend(delivery.repeatable_failure());
                return false;
            };
            inner.delivered += 1;
            if let Outcome::Failed { unrepeatable, .. } = delivery.outcome {
                inner.failures.push(DeliveredFailure {
                    position: delivery.position,
                    delivery: inner.delivered,
                    unrepeatable,
                });
            }
            let before = std::mem::replace(slot, Slot::Ready(delivery.outcome));
            match before {
                Slot::Waiting(waker) => {
                    inner.waiting -= 1;
                    waker
                }
                Slot::Ready(_) => None,
            }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    /// The next recorded completion; a divergence stops the frame.
    pub(crate) fn next_recorded(&self) -> Option<Delivery> {
        let inner = &mut *self.lock();
        match inner.replay.next(inner.next_position) {
            Ok(next) => next,
            Err(divergence) => {
                inner.stop(&divergence, self.function);
                None
            }
        }
    }

    /// Stops the execution for another reason than a divergence.
    pub(crate) fn stop(&self, reason: BlockReason) {
        self.lock().stop.get_or_insert(reason);
    }

    /// What stops this execution, if the last poll found something.
    pub(crate) fn stopped(&self) -> Option<BlockReason> {
        self.lock().stop.clone()
    }

    /// The steps asked for since the last call, to be brought to their ends.
    pub(crate) fn take_asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.lock().asked)
    }

    /// The positions whose calls were dropped since the last call.
    pub(crate) fn take_dropped(&self) -> Vec<Position> {
        std::mem::take(&mut self.lock().dropped)
    }

    /// Whether a call waits for its outcome. One that has it and was not polled since does not count:
    /// what keeps the function from polling it is not a step.
    pub(crate) fn waits(&self) -> bool {
        self.lock().waiting > 0
    }

    /// The first step that was asked for and that the history does not know.
    pub(crate) fn first_new(&self) -> Option<Step> {
        self.lock().first_new.clone()
    }

    /// How many steps were asked for.
    pub(crate) fn steps(&self) -> u32 {
        self.lock().next_position
    }

    /// A step that was asked for after `after` deliveries leaves a mark: its body begins to run, or what
    /// it came to is recorded.
    pub(crate) fn begins(&self, after: u64) {
        let inner = &mut *self.lock();
        inner.built_on = inner.built_on.max(after);
    }

    /// The function has returned, whatever: checks that it asked for all that the history holds.
    pub(crate) fn check_end(&self) -> Option<BlockReason> {
        let inner = &mut *self.lock();
        if let Err(divergence) = inner.replay.leftover_failures(inner.next_position) {
            inner.stop(&divergence, self.function);
        }
        inner.stop.clone()
    }

    /// The failures that nothing durable followed: those delivered after the last step that left a mark
    /// was asked for, and those never seen, among them the ones `left` to deliver. They are tried afresh
    /// when the function is redelivered.
    pub(crate) fn droppable(&self, left: &VecDeque<Delivery>) -> Vec<Position> {
        let inner = &mut *self.lock();
        let delivered = inner
            .failures
            .iter()
            .filter(|failure| failure.delivery > inner.built_on && !failure.unrepeatable)
            .map(|failure| failure.position);
        let mut droppable: Vec<Position> = delivered
            .chain(inner.unseen.iter().copied())
            .chain(left.iter().filter_map(Delivery::repeatable_failure))
            .chain(
                inner
                    .replay
                    .leftover_failures(inner.next_position)
                    .unwrap_or_default(),
            )
            .collect();
        droppable.sort_unstable();
        droppable.dedup();
        droppable
    }
}

impl Inner {
    /// Where a step is in the list of those asked for. The latest is the likeliest to be looked for.
    fn asked_at(&self, position: Position) -> Option<usize> {
        self.asked
            .iter()
            .rposition(|asked| asked.step.position == position)
    }

    /// The first divergence is told; what follows from it is noise.
    fn stop(&mut self, divergence: &Divergence, function: &str) {
        if self.stop.is_none() {
            self.stop = Some(divergence.block(function));
        }
    }
}
