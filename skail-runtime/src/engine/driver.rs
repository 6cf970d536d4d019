//! Polls one function and brings its steps to their ends.
//!
//! The flow of an execution, live and in replay alike: poll the function until it can go no further;
//! hand it the next completion, recorded before; poll again. Only when the whole history has been handed
//! over do bodies start. What they come to is recorded in one commit, and then handed over one by one.
//!
//! Owns the function's future. Nothing but the driver changes an execution's history.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::coop::{Unconstrained, consume_budget, unconstrained};

use super::attempts::{AttemptEnd, panic_text};
use super::context::{Current, enter};
use super::endings;
use super::frame::Frame;
use super::input::Input;
use super::recorder::{Recorder, Stop};
use super::request::Request;
use super::round::Round;
use super::shared::Shared;
use super::steps::{Known, Steps};
use super::waker::FunctionWaker;
use super::watchdog::Watched;
use crate::clock::{Timestamp, WorkGuard};
use crate::codec::Payload;
use crate::descriptor::{BodyFuture, BodyResult, FunctionDescriptor};
use crate::history::{BlockReason, Delivery, Replay};

/// A function that woke itself this often without a step having ended spins.
const MOST_POLLS: u32 = 100_000;

/// A function's result, or what it panicked with.
pub(super) type Returned = Result<BodyResult, String>;

/// See the module.
pub(super) struct Driver<'a> {
    pub(super) shared: Arc<Shared>,
    pub(super) function: &'static FunctionDescriptor,
    pub(super) recorder: Recorder,
    pub(super) frame: Arc<Frame>,
    /// The number of this attempt of the function, from 1.
    pub(super) attempt: u32,
    /// The wait before this attempt.
    pub(super) previous_delay: Option<Duration>,
    pub(super) steps: Steps,
    future: Option<Unconstrained<BodyFuture>>,
    waker: Arc<FunctionWaker>,
    watched: Arc<Watched>,
    ends: mpsc::UnboundedReceiver<AttemptEnd>,
    /// Recorded, and not handed over yet.
    pub(super) deliveries: VecDeque<Delivery>,
    stopping: watch::Receiver<bool>,
    /// Until when running bodies may go on, once the shutdown began.
    grace: Option<Timestamp>,
    working: &'a mut Option<WorkGuard>,
}

/// What a driver is made of.
pub(super) struct Parts {
    pub(super) function: &'static FunctionDescriptor,
    pub(super) recorder: Recorder,
    pub(super) replay: Replay,
    pub(super) arguments: Payload,
    pub(super) suspect: bool,
    /// Whether somebody worked on the execution before.
    pub(super) returned: bool,
}

/// What a wait ended with.
enum Waited {
    /// There may be something to deliver or to start.
    GoOn,
    /// The execution left memory; it is due later, or for another worker.
    Parked,
    /// The function cannot go on.
    Blocked(BlockReason),
}

impl<'a> Driver<'a> {
    pub(super) fn new(
        shared: &Arc<Shared>,
        parts: Parts,
        working: &'a mut Option<WorkGuard>,
    ) -> Self {
        let Parts {
            function,
            recorder,
            replay,
            arguments,
            suspect,
            returned,
        } = parts;
        let execution = recorder.lease().execution.clone();
        let watched = shared.watchdog.watch(execution.clone(), function);
        let known = Known {
            suspect,
            returned,
            latest: replay.latest().unwrap_or(Timestamp::from_millis(0)),
        };
        let (steps, ends) = Steps::new(Arc::clone(shared), execution, known);
        let limit = shared.settings.payload_limit;
        let input = Input::new(Arc::clone(&shared.state), arguments, limit);
        let (attempt, previous_delay) = (replay.attempt(), replay.delay());
        let frame = Arc::new(Frame::new(function.name, replay));
        let lacking = shared.registry.lacking(function.name);
        if let Some(message) = lacking {
            frame.stop(BlockReason {
                message: message.to_owned(),
                position: None,
                changed_arguments: None,
            });
        }
        Self {
            shared: Arc::clone(shared),
            function,
            recorder,
            attempt,
            previous_delay,
            frame,
            steps,
            future: lacking
                .is_none()
                .then(|| unconstrained((function.body)(input))),
            waker: FunctionWaker::new(),
            watched,
            ends,
            deliveries: VecDeque::new(),
            stopping: shared.stopping.subscribe(),
            grace: None,
            working,
        }
    }

    /// Runs the function until it is at rest, waits for long, or must be let go.
    pub(super) async fn run(mut self) -> Result<(), Stop> {
        let mut polled = self.poll();
        loop {
            if let Some(reason) = self.frame.stopped() {
                return endings::blocked(self, reason).await;
            }
            // Checked before anything that was seen since is built on.
            if self.waker.is_foreign() {
                let reason = self.awaits_unrecorded();
                return endings::blocked(self, reason).await;
            }
            if let Poll::Ready(returned) = polled {
                self.drop_future();
                return endings::returned(self, returned).await;
            }
            if let Some(delivery) = self.next_delivery() {
                let waker = Arc::clone(&self.waker);
                if waker.inside(|| self.frame.deliver(delivery)) {
                    polled = self.poll();
                }
                continue;
            }
            self.begin().await?;
            if !self.deliveries.is_empty() {
                continue;
            }
            match self.wait().await? {
                Waited::GoOn => {}
                Waited::Parked => return Ok(()),
                Waited::Blocked(reason) => return endings::blocked(self, reason).await,
            }
        }
    }

    /// The history first, then what was recorded since.
    fn next_delivery(&mut self) -> Option<Delivery> {
        self.frame
            .next_recorded()
            .or_else(|| self.deliveries.pop_front())
    }

    /// Polls the function until it can go no further. Its branches may wake one another meanwhile.
    fn poll(&mut self) -> Poll<Returned> {
        let waker = self.waker.waker();
        let mut context = Context::from_waker(&waker);
        // The wake by what was delivered is why this poll comes, not a reason for one more.
        self.waker.take_again();
        for _ in 0..MOST_POLLS {
            let Some(future) = self.future.as_mut() else {
                return Poll::Pending;
            };
            let current = Current::Function(Arc::clone(&self.frame));
            let in_poll = self.watched.enter();
            let polled = self.waker.inside(|| {
                catch_unwind(AssertUnwindSafe(|| {
                    enter(current, || std::pin::Pin::new(future).poll(&mut context))
                }))
            });
            drop(in_poll);
            for position in self.frame.take_dropped() {
                self.steps.forget(position);
            }
            match polled {
                Err(panic) => return Poll::Ready(Err(panic_text(panic))),
                Ok(Poll::Ready(result)) => return Poll::Ready(Ok(result)),
                Ok(Poll::Pending) if self.frame.stopped().is_some() => return Poll::Pending,
                Ok(Poll::Pending) => {
                    if !self.waker.take_again() {
                        return Poll::Pending;
                    }
                }
            }
        }
        self.frame.stop(self.spins());
        Poll::Pending
    }

    /// Drops the function and aborts its bodies; what its destructors do is its own affair.
    pub(super) fn drop_future(&mut self) {
        let future = self.future.take();
        let _ = catch_unwind(AssertUnwindSafe(|| self.waker.inside(|| drop(future))));
        self.steps.abort();
    }

    /// Takes in the steps that were asked for and starts what is due.
    async fn begin(&mut self) -> Result<(), Stop> {
        let now = self.shared.clock.now();
        let mut round = Round::default();
        let stopping = self.shared.is_stopping();
        for asked in self.frame.take_asked() {
            // A function that asks for values in a loop must not hold a shutdown up. Whatever is asked for
            // now is asked for again by the next run.
            if !stopping || matches!(asked.request, Request::Command(_)) {
                self.steps.ask(asked, now, &mut round);
            }
        }
        let ready = if stopping {
            self.steps.leave_queue(now);
            Vec::new()
        } else {
            self.steps.fire(now, &mut round);
            // What is known already may be what some of them lose to: their bodies must not begin.
            match round.deliveries.is_empty() {
                true => self.steps.ready(now),
                false => Vec::new(),
            }
        };
        round.events.extend(self.steps.starts(&ready, now));
        self.record(round).await?;
        self.steps.start(&ready, &self.frame);
        Ok(())
    }

    /// Records what a round came to, then queues it for delivery.
    async fn record(&mut self, round: Round) -> Result<(), Stop> {
        if let Some(first) = round.events.first() {
            // What these events are of may have been asked for on the new way of a change.
            let mut events = self.frame.take_patches(first.at());
            events.extend(round.events);
            self.recorder.events(events).await?;
            self.frame.begins(round.built_on);
            // A store may answer at once, and a function ask for one value after the other.
            consume_budget().await;
        }
        self.deliveries.extend(round.deliveries);
        if let Some(reason) = round.block {
            self.frame.stop(reason);
        }
        Ok(())
    }

    /// Waits until something has ended or is due.
    async fn wait(&mut self) -> Result<Waited, Stop> {
        let now = self.shared.clock.now();
        if !self.frame.waits() {
            return Ok(Waited::Blocked(self.awaits_unrecorded()));
        }
        let running = self.steps.any_running();
        if self.shared.is_stopping() {
            let grace = self.shared.settings.shutdown_grace;
            let until = *self.grace.get_or_insert_with(|| now.saturating_add(grace));
            if !running || until <= now {
                self.drop_future();
                self.recorder.release().await?;
                return Ok(Waited::Parked);
            }
        }
        let due = if self.grace.is_some() {
            self.grace
        } else {
            self.steps.next_due()
        };
        // Without a due time and with nothing that runs, what is waited for never comes by itself.
        let until = due.unwrap_or(Timestamp::MAX);
        if !running && until.saturating_since(now) > self.shared.settings.warm_period {
            endings::park(self, until).await?;
            return Ok(Waited::Parked);
        }
        self.sleep(due).await
    }

    /// The one place where a driver sleeps.
    async fn sleep(&mut self, due: Option<Timestamp>) -> Result<Waited, Stop> {
        let clock = Arc::clone(&self.shared.clock);
        let mut timer = due.map(|due| clock.sleep_until(due));
        let timer_ends = async {
            match timer.as_mut() {
                Some(timer) => timer.await,
                None => std::future::pending().await,
            }
        };
        let known_to_stop = self.grace.is_some();
        // From here on a virtual clock may move.
        *self.working = None;
        let first = tokio::select! {
            biased;
            ended = self.ends.recv() => ended,
            () = timer_ends => None,
            () = self.waker.foreign() => None,
            _ = self.stopping.wait_for(|stopping| *stopping), if !known_to_stop => None,
        };
        *self.working = Some(clock.working());
        drop(timer);
        let Some(first) = first else {
            return Ok(Waited::GoOn);
        };
        // What is ready together is one commit.
        let now = clock.now();
        let mut round = Round::default();
        let mut next = Some(first);
        while let Some(ended) = next {
            self.steps.ended(ended, now, &mut round);
            next = self.ends.try_recv().ok();
        }
        self.record(round).await?;
        Ok(Waited::GoOn)
    }

    fn awaits_unrecorded(&self) -> BlockReason {
        let steps = self.frame.steps();
        let place = match steps.checked_sub(1) {
            None => "before its first step".to_owned(),
            Some(last) => format!("after it asked for the step at position {last}"),
        };
        BlockReason {
            message: format!(
                "`{}` ({}) awaits something that Skail does not record, {place}: a socket, a timer, a \
                 channel or a task of its own. A replay could not repeat it. Move it into a \
                 `#[skail_command]` and await that; deploy, then resume.",
                self.function.name, self.function.site
            ),
            position: steps.checked_sub(1).map(crate::ids::Position),
            changed_arguments: None,
        }
    }

    fn spins(&self) -> BlockReason {
        let message = format!(
            "`{}` ({}) woke itself {MOST_POLLS} times without waiting for a step: it spins. Deploy code \
             that awaits steps only, then resume.",
            self.function.name, self.function.site
        );
        BlockReason {
            message,
            position: None,
            changed_arguments: None,
        }
    }
}

impl Drop for Driver<'_> {
    fn drop(&mut self) {
        // A panic in the function's destructors must not become one of the engine.
        self.drop_future();
    }
}
