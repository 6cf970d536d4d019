//! The steps of one execution that are under way: running, or waiting for their next attempt.
//!
//! Owns what follows from an attempt's end: another attempt, or the outcome, and the event that says so.
//! Must never record anything itself: the driver does, before anything depends on it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use super::attempts::{AttemptEnd, End, Running};
use super::frame::Asked;
use super::places::Place;
use super::shared::Shared;
use crate::clock::Timestamp;
use crate::codec::{Payload, PayloadError};
use crate::descriptor::{CommandDescriptor, CommandPolicy};
use crate::error::{Advice, Failure, FailureKind};
use crate::history::{BlockReason, Delivery, Event, Outcome, Step};
use crate::ids::{ExecutionId, Position};

/// One step that is under way.
#[derive(Debug)]
pub(super) struct Underway {
    pub(super) step: Step,
    pub(super) command: &'static CommandDescriptor,
    pub(super) policy: CommandPolicy,
    pub(super) arguments: Payload,
    pub(super) after: u64,
    /// The number of the attempt that runs, or is to run.
    pub(super) attempt: u32,
    pub(super) previous_delay: Option<Duration>,
    /// Whether the start of every further attempt is recorded, because one was: the process died in this
    /// step, or may have.
    pub(super) watched: bool,
    pub(super) stage: Stage,
}

#[derive(Debug)]
pub(super) enum Stage {
    /// Its next attempt starts at this time.
    Waiting(Timestamp),
    /// Its next attempt waits for a place, so that its start can be recorded then.
    Queued(#[expect(dead_code, reason = "held to be dropped")] Running),
    /// It has its place; its start is to be recorded.
    Placed(Place),
    /// Its body runs; dropped, it is aborted.
    Running(#[expect(dead_code, reason = "held to be dropped")] Running),
}

/// What a round of work came to: to be recorded first, then delivered.
#[derive(Debug, Default)]
pub(crate) struct Round {
    pub(crate) events: Vec<Event>,
    pub(crate) deliveries: Vec<Delivery>,
    pub(crate) block: Option<BlockReason>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Steps {
    pub(super) shared: Arc<Shared>,
    pub(super) execution: ExecutionId,
    pub(super) underway: HashMap<Position, Underway>,
    /// The due times of those that wait, so that a look at them costs nothing however many there are.
    pub(super) waiting: BTreeSet<(Timestamp, Position)>,
    /// Those that got their places since the last look.
    pub(super) placed: Vec<Position>,
    pub(super) sender: mpsc::UnboundedSender<AttemptEnd>,
    /// Whether the last owner may have died in a command of this execution, and no result was recorded
    /// since: then every start is recorded before the body runs.
    pub(super) suspect: bool,
}

impl Steps {
    pub(crate) fn new(
        shared: Arc<Shared>,
        execution: ExecutionId,
        suspect: bool,
    ) -> (Self, mpsc::UnboundedReceiver<AttemptEnd>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (
            Self {
                shared,
                execution,
                underway: HashMap::new(),
                waiting: BTreeSet::new(),
                placed: Vec::new(),
                sender,
                suspect,
            },
            receiver,
        )
    }

    /// Takes in a step that the function asked for.
    pub(crate) fn ask(&mut self, asked: Asked, now: Timestamp, round: &mut Round) {
        let Asked {
            step,
            request,
            recorded,
            after,
        } = asked;
        let limit = self.shared.settings.payload_limit;
        let arguments = request
            .arguments
            .and_then(|arguments| check_size(arguments, limit));
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err((parameter, error)) => {
                let text = format!("the argument `{parameter}` cannot be recorded: {error}");
                let failure = Failure::new(FailureKind::Unrecordable, text);
                round.end(now, step, 0, failure, false);
                return;
            }
        };
        let mut underway = Underway {
            step,
            command: request.descriptor,
            policy: request.policy,
            arguments,
            after,
            attempt: 1,
            previous_delay: None,
            watched: false,
            stage: Stage::Waiting(now),
        };
        if let Some(recorded) = recorded {
            underway.watched = recorded.watched;
            // Without an unclean stop the body was let go, by a shutdown or a function that ended: that
            // costs no attempt, unless there is only one.
            let counts = self.suspect || underway.policy.at_most_once();
            if let Some(attempt) = recorded.interrupted_attempt.filter(|_| counts) {
                underway.attempt = attempt;
                underway.previous_delay = recorded.retry_delay;
                let failure = Failure::new(FailureKind::Interrupted, INTERRUPTED);
                self.failed(underway, failure, false, now, round);
                return;
            }
            underway.attempt = recorded.failed_attempts + 1;
            underway.previous_delay = recorded.retry_delay;
            if let Some(due) = recorded.retry_at {
                underway.stage = Stage::Waiting(due);
            }
            if let Some(failure) = recorded.last_failure
                && underway.attempt > underway.policy.retry_count.saturating_add(1)
            {
                // A build with a smaller `retry_count` took over: the attempts are spent.
                underway.attempt = recorded.failed_attempts;
                self.failed(underway, failure, true, now, round);
                return;
            }
        }
        self.keep(underway);
    }

    fn keep(&mut self, underway: Underway) {
        let position = underway.step.position;
        if let Stage::Waiting(at) = underway.stage {
            self.waiting.insert((at, position));
        }
        self.underway.insert(position, underway);
    }

    fn take(&mut self, position: Position) -> Option<Underway> {
        let underway = self.underway.remove(&position)?;
        if let Stage::Waiting(at) = underway.stage {
            self.waiting.remove(&(at, position));
        }
        Some(underway)
    }

    /// Takes in how an attempt ended.
    pub(crate) fn ended(&mut self, ended: AttemptEnd, now: Timestamp, round: &mut Round) {
        if let End::Placed(place) = ended.end {
            if let Some(underway) = self.underway.get_mut(&ended.position)
                && matches!(underway.stage, Stage::Queued(_))
            {
                underway.stage = Stage::Placed(place);
                self.placed.push(ended.position);
            }
            return;
        }
        let Some(mut underway) = self.take(ended.position) else {
            // Its call was dropped meanwhile: nobody is to get this, in no replay either.
            return;
        };
        debug_assert_eq!(
            underway.attempt, ended.attempt,
            "one attempt of a step at a time"
        );
        underway.stage = Stage::Waiting(now);
        match ended.end {
            End::Placed(_) => {}
            End::Completed(result) => {
                self.suspect = false;
                let position = underway.step.position;
                round.deliveries.push(Delivery {
                    position,
                    outcome: Outcome::Completed(result.clone()),
                });
                round.events.push(Event::CommandCompleted {
                    at: now,
                    step: underway.step,
                    attempts: underway.attempt,
                    result,
                });
            }
            End::Failed(failure) => self.failed(underway, failure, false, now, round),
            End::Final(failure) => self.failed(underway, failure, true, now, round),
            End::ArgumentsUnreadable { parameter, error } => {
                round.block = Some(BlockReason {
                    message: format!(
                        "at position {}, command `{}` cannot read its recorded argument `{parameter}`: \
                         {error}. Deploy code that reads it, then resume.",
                        underway.step.position, underway.command.name
                    ),
                    position: Some(underway.step.position),
                    changed_arguments: None,
                });
            }
        }
    }

    fn failed(
        &mut self,
        mut underway: Underway,
        failure: Failure,
        last: bool,
        now: Timestamp,
        round: &mut Round,
    ) {
        let policy = underway.policy;
        let last = last || failure.advice == Advice::Permanent;
        if last || underway.attempt > policy.retry_count {
            round.end(
                now,
                underway.step,
                underway.attempt,
                failure,
                policy.at_most_once(),
            );
            return;
        }
        let random = self.shared.random();
        let backoff = policy.backoff.unwrap_or(self.shared.settings.backoff);
        let most = policy
            .max_retry_after
            .unwrap_or(self.shared.settings.max_retry_after);
        let delay = failure.advice.wait(most, random, || {
            backoff.delay(underway.attempt - 1, underway.previous_delay, random)
        });
        let retry_at = now.saturating_add(delay);
        tracing::debug!(
            execution = %self.execution, command = underway.command.name, attempt = underway.attempt,
            %failure, ?delay, "command attempt failed"
        );
        round.events.push(Event::CommandAttemptFailed {
            at: now,
            step: underway.step.clone(),
            attempt: underway.attempt,
            failure,
            retry_at,
        });
        underway.attempt += 1;
        underway.previous_delay = Some(delay);
        underway.stage = Stage::Waiting(retry_at);
        self.keep(underway);
    }

    /// The call of this step was dropped: its body is aborted.
    pub(crate) fn forget(&mut self, position: Position) {
        self.take(position);
    }

    /// Aborts everything that runs.
    pub(crate) fn abort(&mut self) {
        self.underway.clear();
        self.waiting.clear();
        self.placed.clear();
    }

    /// Whether a body runs.
    pub(crate) fn any_running(&self) -> bool {
        self.underway.len() > self.waiting.len()
    }

    /// When the next waiting step is due.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.waiting.first().map(|(at, _)| *at)
    }
}

impl Round {
    fn end(
        &mut self,
        at: Timestamp,
        step: Step,
        attempts: u32,
        failure: Failure,
        unrepeatable: bool,
    ) {
        let outcome = Outcome::Failed {
            attempts,
            failure: failure.clone(),
            unrepeatable,
        };
        self.deliveries.push(Delivery {
            position: step.position,
            outcome,
        });
        self.events.push(Event::CommandFailed {
            at,
            step,
            attempts,
            failure,
            unrepeatable,
        });
    }
}

fn check_size(arguments: Payload, limit: usize) -> Result<Payload, (&'static str, PayloadError)> {
    let size = arguments.as_bytes().len();
    if size > limit {
        return Err((
            "(all)",
            PayloadError::TooLarge {
                wanted: "a list of arguments",
                size,
                limit,
            },
        ));
    }
    Ok(arguments)
}

const INTERRUPTED: &str = "the command's body began, and its process died or its call was dropped before \
                           it ended: whether its effect happened is unknown";
