//! The steps of one running function: which were asked for, which have their outcome.
//!
//! The one meeting point of the function's calls and its driver. A call claims the next position when it
//! is first polled, so the order of positions is the order of first polls and nothing else: not of
//! construction, not of completion, not of dropping. Owns no wait and no task; must never run anything.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use crate::codec::{Payload, PayloadError};
use crate::descriptor::{CommandDescriptor, CommandPolicy};
use crate::history::{
    BlockReason, Delivery, Divergence, Outcome, Recorded, Replay, Step, StepKind,
};
use crate::ids::Position;

/// A command call on its way to become a step.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) descriptor: &'static CommandDescriptor,
    pub(crate) policy: CommandPolicy,
    pub(crate) arguments: Result<Payload, (&'static str, PayloadError)>,
}

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
    first_new: Option<(Position, &'static str)>,
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
    pub(crate) fn claim(&self, request: Request) -> Position {
        let inner = &mut *self.lock();
        let position = Position(inner.next_position);
        inner.next_position += 1;
        let arguments = match &request.arguments {
            Ok(arguments) => arguments.clone(),
            Err(_) => Payload::nothing(),
        };
        let step = Step {
            position,
            kind: StepKind::Command,
            name: request.descriptor.name.to_owned(),
            digest: arguments.digest(),
            arguments,
        };
        inner.slots.insert(position, Slot::Waiting(None));
        inner.waiting += 1;
        match inner.replay.ask(&step) {
            Ok(recorded) => {
                if recorded.is_some() {
                    inner.built_on = inner.built_on.max(inner.delivered);
                } else {
                    let name = request.descriptor.name;
                    inner.first_new.get_or_insert((position, name));
                }
                if !recorded.as_ref().is_some_and(|recorded| recorded.finished) {
                    let after = inner.delivered;
                    let again = inner.replay.was_dropped(position);
                    inner.asked.push(Asked {
                        step,
                        request,
                        recorded,
                        after,
                        again,
                    });
                }
            }
            Err(divergence) => inner.stop(&divergence, self.function),
        }
        position
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
        // The latest asked for is the likeliest to go.
        if let Some(at) = inner
            .asked
            .iter()
            .rposition(|asked| asked.step.position == position)
        {
            inner.asked.remove(at);
        }
        inner.dropped.push(position);
    }

    /// A recorded result cannot be read as the type that the call wants.
    pub(crate) fn unreadable(&self, position: Position, name: &str, error: &PayloadError) {
        let divergence = Divergence::Unreadable {
            position,
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
    pub(crate) fn first_new(&self) -> Option<(Position, &'static str)> {
        self.lock().first_new
    }

    /// How many steps were asked for.
    pub(crate) fn steps(&self) -> u32 {
        self.lock().next_position
    }

    /// The body of a step that was asked for after `after` deliveries begins to run.
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
    /// The first divergence is told; what follows from it is noise.
    fn stop(&mut self, divergence: &Divergence, function: &str) {
        if self.stop.is_none() {
            self.stop = Some(divergence.block(function));
        }
    }
}
