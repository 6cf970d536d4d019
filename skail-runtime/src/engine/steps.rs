//! The steps of one execution that are under way: running, or waiting for their next attempt.
//!
//! Owns what follows from an attempt's end: another attempt, or the outcome, and the event that says so.
//! Must never record anything itself: the driver does, before anything depends on it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use tokio::sync::mpsc;

use super::attempts::{AttemptEnd, End};
use super::frame::Asked;
use super::request::{CommandRequest, Request, Source};
use super::round::Round;
use super::shared::Shared;
use super::timers::{Over, Timers};
use super::underway::{Stage, Underway};
use crate::clock::Timestamp;
use crate::codec::{Payload, PayloadError};
use crate::error::{Advice, Failure, FailureKind};
use crate::history::{BlockReason, Event, Recorded, Step};
use crate::ids::{ExecutionId, Position};

/// When a step was asked for.
#[derive(Debug, Clone, Copy)]
struct From {
    /// How many completions the function had got.
    after: u64,
    /// Whether its attempts were spent before, in an earlier attempt of the function.
    again: bool,
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
    /// Whether nothing was started yet in this run of an execution that somebody worked on before: what
    /// it asks for now may have been held then.
    pub(super) returned: bool,
    timers: Timers,
    /// The latest time that the function knows.
    latest: Timestamp,
}

/// What is known of an execution when its steps are taken up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// Whether the last owner may have died in a command.
    pub(crate) suspect: bool,
    /// Whether somebody worked on it before.
    pub(crate) returned: bool,
    /// The latest time in its history.
    pub(crate) latest: Timestamp,
}

impl Steps {
    pub(crate) fn new(
        shared: Arc<Shared>,
        execution: ExecutionId,
        known: Known,
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
                suspect: known.suspect,
                returned: known.returned,
                timers: Timers::default(),
                latest: known.latest,
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
            again,
        } = asked;
        match request {
            Request::Command(request) => {
                let from = From { after, again };
                self.command(step, request, recorded, from, now, round);
            }
            Request::Value(source) => self.value(step, source, after, now, round),
            Request::Timer(timer) => {
                let recorded = recorded.and_then(|recorded| recorded.due);
                let due = recorded.unwrap_or_else(|| {
                    let due = timer.wait.due(now);
                    round.set_timer(now, step.clone(), after, due);
                    due
                });
                let failure = timer.failure();
                self.timers.keep(Over { step, failure }, due);
            }
        }
    }

    /// Has a value at once.
    fn value(&mut self, step: Step, source: Source, after: u64, now: Timestamp, round: &mut Round) {
        self.latest = self.latest.max(now);
        let limit = self.shared.settings.payload_limit;
        let value = source.value(&self.shared, self.latest);
        match value.and_then(|value| check_size(value, "a recorded value", limit)) {
            Ok(value) => round.value(now, step, after, value),
            Err(error) => {
                let text = format!("its value cannot be recorded: {error}");
                let failure = Failure::new(FailureKind::Unrecordable, text);
                round.fail_step(now, step, failure);
            }
        }
    }

    /// The waits that are over end.
    pub(crate) fn fire(&mut self, now: Timestamp, round: &mut Round) {
        while let Some(Over { step, failure }) = self.timers.take_due(now) {
            match failure {
                None => round.fire(now, step),
                Some(failure) => round.fail_step(now, step, failure),
            }
        }
    }

    fn command(
        &mut self,
        step: Step,
        request: CommandRequest,
        recorded: Option<Recorded>,
        from: From,
        now: Timestamp,
        round: &mut Round,
    ) {
        let limit = self.shared.settings.payload_limit;
        let arguments = request.arguments.and_then(|arguments| {
            check_size(arguments, "a list of arguments", limit).map_err(|error| ("(all)", error))
        });
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err((parameter, error)) => {
                let text = format!("the argument `{parameter}` cannot be recorded: {error}");
                let failure = Failure::new(FailureKind::Unrecordable, text);
                round.fail(now, step, 0, failure, false);
                return;
            }
        };
        let mut underway = Underway {
            step,
            command: request.descriptor,
            policy: request.policy,
            arguments,
            after: from.after,
            attempt: 1,
            previous_delay: None,
            watched: false,
            again: from.again,
            waited: self.returned,
            stage: Stage::Waiting(now),
            leave: None,
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

    pub(super) fn keep(&mut self, underway: Underway) {
        let position = underway.step.position;
        if let Some(at) = underway.stage.due() {
            self.waiting.insert((at, position));
        }
        self.underway.insert(position, underway);
    }

    pub(super) fn take(&mut self, position: Position) -> Option<Underway> {
        let underway = self.underway.remove(&position)?;
        if let Some(at) = underway.stage.due() {
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
                round.complete(now, underway.step, underway.attempt, result);
            }
            End::Held(hold) => {
                underway.hold(hold);
                self.keep(underway);
            }
            End::Failed(failure) => self.failed(underway, failure, false, now, round),
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
            round.fail(
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
        self.timers.forget(position);
        self.take(position);
    }

    /// Aborts everything that runs.
    pub(crate) fn abort(&mut self) {
        self.underway.clear();
        self.waiting.clear();
        self.placed.clear();
        self.timers.clear();
    }

    /// Whether a body runs.
    pub(crate) fn any_running(&self) -> bool {
        self.underway.len() > self.waiting.len()
    }

    /// When the next waiting step is due; `None` if time brings nothing.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        let waiting = self.waiting.first().map(|(at, _)| *at);
        waiting.into_iter().chain(self.timers.next_due()).min()
    }

    /// What the next waiting step waits for, if it is not just time.
    pub(crate) fn held_by(&self) -> Option<String> {
        let (_, position) = self.waiting.first()?;
        match &self.underway.get(position)?.stage {
            Stage::Held(hold) => Some(hold.reason()),
            Stage::Waiting(_) | Stage::Queued(_) | Stage::Placed(_) | Stage::Running(_) => None,
        }
    }
}

fn check_size(
    payload: Payload,
    wanted: &'static str,
    limit: usize,
) -> Result<Payload, PayloadError> {
    let size = payload.as_bytes().len();
    if size > limit {
        return Err(PayloadError::TooLarge {
            wanted,
            size,
            limit,
        });
    }
    Ok(payload)
}

const INTERRUPTED: &str = "the command's body began, and its process died or its call was dropped before \
                           it ended: whether its effect happened is unknown";
