//! The cursor: what a history answers while its function runs again.
//!
//! The whole history is read first. Then the function is polled, asks for steps ([`Replay::ask`]), and
//! is handed the recorded completions one by one in the order in which they were recorded
//! ([`Replay::next`]): the order in which it got them live.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::Duration;

use super::{AcceptedArguments, BlockReason, Divergence, Event, Status, Step};
use crate::clock::Timestamp;
use crate::codec::Payload;
use crate::error::Failure;
use crate::ids::{Position, Sequence};

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// With this result.
    Completed(Payload),
    /// With this failure.
    Failed {
        /// How many attempts were made.
        attempts: u32,
        /// What the last one ended with.
        failure: Failure,
        /// Whether it may never run again.
        unrepeatable: bool,
    },
}

/// A recorded completion that is handed to the function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The step.
    pub position: Position,
    /// How it ended.
    pub outcome: Outcome,
}

impl Delivery {
    /// Its step, if that failed and may run again.
    #[must_use]
    pub fn repeatable_failure(&self) -> Option<Position> {
        match self.outcome {
            Outcome::Failed {
                unrepeatable: false,
                ..
            } => Some(self.position),
            Outcome::Failed { .. } | Outcome::Completed(_) => None,
        }
    }
}

/// What the history knows of a step that has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The step as it was asked for.
    pub step: Step,
    /// Whether it has ended.
    pub finished: bool,
    /// How many attempts are recorded as failed.
    pub failed_attempts: u32,
    /// What the last of them ended with.
    pub last_failure: Option<Failure>,
    /// When the next attempt is due.
    pub retry_at: Option<Timestamp>,
    /// How long that is after the last of them.
    pub retry_delay: Option<Duration>,
    /// The attempt whose start was recorded and whose end was not: the process died in it.
    pub interrupted_attempt: Option<u32>,
    /// Whether the start of any attempt was recorded: then those of the following ones are too.
    pub watched: bool,
    /// When it ends, if it is a wait.
    pub due: Option<Timestamp>,
}

/// The cursor over one history.
#[derive(Debug, Default)]
pub struct Replay {
    started: Option<(String, Payload)>,
    status: Option<Status>,
    length: u64,
    attempt: u32,
    delay: Option<Duration>,
    block: Option<BlockReason>,
    /// The steps that the code has not asked for yet.
    recorded: BTreeMap<Position, Recorded>,
    accepted: Vec<AcceptedArguments>,
    deliveries: VecDeque<Delivery>,
    dropped: HashSet<Position>,
    /// Where the code took the new way of a change.
    patches: HashSet<(String, Position)>,
    latest: Option<Timestamp>,
}

impl Replay {
    /// The cursor over a whole history.
    ///
    /// # Errors
    /// [`HistoryError`] if the events cannot have followed one another.
    pub fn read(events: impl IntoIterator<Item = Event>) -> Result<Self, HistoryError> {
        let mut replay = Self::default();
        for event in events {
            replay.push(event)?;
        }
        Ok(replay)
    }

    /// Takes the next event of the history in.
    ///
    /// # Errors
    /// [`HistoryError`] if the event cannot follow.
    pub fn push(&mut self, event: Event) -> Result<(), HistoryError> {
        let sequence = Sequence(self.length);
        let status = Status::after(self.status, &event).map_err(|refusal| HistoryError {
            sequence,
            reason: refusal.to_string(),
        })?;
        self.status = Some(status);
        self.length += 1;
        self.latest = self.latest.max(Some(event.at()));
        match event {
            Event::Started {
                function,
                arguments,
                ..
            } => {
                self.started = Some((function, arguments));
                self.attempt = 1;
            }
            Event::CommandStarted { step, attempt, .. } => {
                let recorded = self.of(step);
                recorded.interrupted_attempt = Some(attempt);
                recorded.watched = true;
            }
            Event::CommandAttemptFailed {
                at,
                step,
                attempt,
                failure,
                retry_at,
            } => {
                let recorded = self.of(step);
                recorded.failed_attempts = attempt;
                recorded.last_failure = Some(failure);
                recorded.retry_at = Some(retry_at);
                recorded.retry_delay = Some(retry_at.saturating_since(at));
                recorded.interrupted_attempt = None;
            }
            Event::CommandCompleted { step, result, .. } => {
                self.finish(step, Outcome::Completed(result));
            }
            Event::CommandFailed {
                step,
                attempts,
                failure,
                unrepeatable,
                ..
            } => {
                self.fail(step, attempts, failure, unrepeatable);
            }
            Event::ValueRecorded { step, value, .. } => {
                self.finish(step, Outcome::Completed(value));
            }
            Event::TimerSet { step, due, .. } => self.of(step).due = Some(due),
            Event::TimerFired { step, .. } => {
                self.finish(step, Outcome::Completed(Payload::nothing()));
            }
            Event::StepFailed { step, failure, .. } => self.fail(step, 0, failure, false),
            Event::Patched { id, position, .. } => {
                self.patches.insert((id, position));
            }
            Event::FunctionAttemptFailed {
                at,
                dropped,
                retry_at,
                ..
            } => {
                self.drop_failures(&dropped);
                self.attempt += 1;
                self.delay = retry_at.map(|retry_at| retry_at.saturating_since(at));
            }
            Event::Blocked { reason, .. } => self.block = Some(reason),
            Event::Resumed { accepted, .. } => {
                self.accepted.extend(accepted);
                self.resume();
            }
            Event::Completed { .. } => {}
        }
        Ok(())
    }

    /// They are tried afresh.
    fn drop_failures(&mut self, dropped: &[Position]) {
        for position in dropped {
            self.recorded.remove(position);
        }
        self.dropped.extend(dropped);
        self.deliveries
            .retain(|delivery| !dropped.contains(&delivery.position));
    }

    /// A block costs no attempt and a resume after a failure begins to count afresh.
    fn resume(&mut self) {
        if self.block.take().is_none() {
            self.attempt = 1;
            self.dropped.clear();
            self.forget_failed_attempts();
        }
    }

    fn forget_failed_attempts(&mut self) {
        for recorded in self
            .recorded
            .values_mut()
            .filter(|recorded| !recorded.finished)
        {
            recorded.failed_attempts = 0;
            recorded.last_failure = None;
            recorded.retry_at = None;
            recorded.retry_delay = None;
        }
    }

    fn of(&mut self, step: Step) -> &mut Recorded {
        self.recorded
            .entry(step.position)
            .or_insert_with(|| Recorded {
                step,
                finished: false,
                failed_attempts: 0,
                last_failure: None,
                retry_at: None,
                retry_delay: None,
                interrupted_attempt: None,
                watched: false,
                due: None,
            })
    }

    fn finish(&mut self, step: Step, outcome: Outcome) {
        let position = step.position;
        self.of(step).finished = true;
        self.deliveries.push_back(Delivery { position, outcome });
    }

    fn fail(&mut self, step: Step, attempts: u32, failure: Failure, unrepeatable: bool) {
        let outcome = Outcome::Failed {
            attempts,
            failure,
            unrepeatable,
        };
        self.finish(step, outcome);
    }

    /// The function's recorded name and arguments.
    #[must_use]
    pub fn started(&self) -> Option<(&str, &Payload)> {
        self.started
            .as_ref()
            .map(|(function, arguments)| (function.as_str(), arguments))
    }

    /// Where the execution stands after all events so far.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        self.status
    }

    /// Where the next event goes.
    #[must_use]
    pub fn length(&self) -> Sequence {
        Sequence(self.length)
    }

    /// The number of the function's attempt that is to run, from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The wait before that attempt, if one before it failed.
    #[must_use]
    pub fn delay(&self) -> Option<Duration> {
        self.delay
    }

    /// Whether the step here spent its attempts in an earlier attempt of the function, which had nothing
    /// built on that.
    #[must_use]
    pub fn was_dropped(&self, position: Position) -> bool {
        self.dropped.contains(&position)
    }

    /// The latest time that the history holds: time goes on from there, however the machine's clock was
    /// set since.
    #[must_use]
    pub fn latest(&self) -> Option<Timestamp> {
        self.latest
    }

    /// The code comes to a change after it has asked for `asked` steps. Gives whether it takes the new
    /// way, and `None` if that is still open: nothing that is recorded came after this place.
    ///
    /// The way is open as long as the history holds no step from this position on, whatever is left of it
    /// to deliver: what is delivered later was asked for before. And it stays as it was taken: a history
    /// only grows, and one whose code took the new way holds that before any step that came after.
    #[must_use]
    pub fn patched(&self, id: &str, asked: u32) -> Option<bool> {
        let position = Position(asked);
        if self.patches.contains(&(id.to_owned(), position)) {
            return Some(true);
        }
        let later = self.recorded.range(position..).next().is_some();
        later.then_some(false)
    }

    /// What blocks the execution, while it is blocked.
    #[must_use]
    pub fn block(&self) -> Option<&BlockReason> {
        self.block.as_ref()
    }

    /// The code asks for a step. Gives what the history knows of it, and nothing if it is new.
    ///
    /// # Errors
    /// [`Divergence`] if the history holds another step, or other arguments, at this position.
    pub fn ask(&mut self, asked: &Step) -> Result<Option<Recorded>, Divergence> {
        let Some(recorded) = self.recorded.remove(&asked.position) else {
            return Ok(None);
        };
        let step = &recorded.step;
        let same_arguments = step.digest == asked.digest
            || self.accepted.iter().any(|accepted| {
                accepted.position == asked.position && accepted.digest == asked.digest
            });
        if step.kind == asked.kind && step.name == asked.name && same_arguments {
            return Ok(Some(recorded));
        }
        Err(Divergence::Differs {
            recorded: Box::new(recorded.step),
            asked: Box::new(asked.clone()),
        })
    }

    /// The next recorded completion, for a code that has asked for `asked` steps so far; `None` when the
    /// history is at its end.
    ///
    /// # Errors
    /// [`Divergence`] if the completion is of a step that the code has not asked for.
    pub fn next(&mut self, asked: u32) -> Result<Option<Delivery>, Divergence> {
        let Some(delivery) = self.deliveries.pop_front() else {
            return Ok(None);
        };
        self.demand_asked(delivery.position, asked)?;
        Ok(Some(delivery))
    }

    /// The function has returned: whatever the history still holds must be of steps that it asked for
    /// and did not wait for. Gives the failures among them, which nothing can have been built on.
    ///
    /// # Errors
    /// [`Divergence`] if the history holds a step that the code never asked for.
    pub fn leftover_failures(&self, asked: u32) -> Result<Vec<Position>, Divergence> {
        if let Some((position, _)) = self.recorded.range(Position(asked)..).next() {
            self.demand_asked(*position, asked)?;
        }
        Ok(self
            .deliveries
            .iter()
            .filter_map(Delivery::repeatable_failure)
            .collect())
    }

    fn demand_asked(&self, position: Position, asked: u32) -> Result<(), Divergence> {
        match self.recorded.get(&position) {
            Some(recorded) if position.0 >= asked => Err(Divergence::NotAsked {
                recorded: Box::new(recorded.step.clone()),
                asked,
            }),
            _ => Ok(()),
        }
    }
}

/// A history whose events cannot have followed one another.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the history is damaged at event {sequence}: {reason}")]
pub struct HistoryError {
    /// The event.
    pub sequence: Sequence,
    reason: String,
}
