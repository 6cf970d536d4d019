//! A part of a history as what a reader wants to see: one row for the function and one for each step, with
//! what took time as bars.
//!
//! Owns what follows from the events. Must never draw.
//!
//! The start of an attempt is recorded only where it must survive a crash. Where it is not, a bar begins at
//! the event before, or when the attempt was due: the attempt began no earlier.

use std::collections::BTreeMap;

use skail_runtime::codec::Payload;
use skail_runtime::error::Failure;
use skail_runtime::history::{Event, Step};

/// What a bar stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BarKind {
    /// An attempt that gave its result.
    Done,
    /// An attempt that failed.
    Failed,
    /// The delay before the next attempt.
    Delay,
    /// A durable wait.
    Wait,
    /// It is going on.
    Open,
}

/// Something that took time, in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bar {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) kind: BarKind,
}

/// An attempt that failed.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) at: i64,
    pub(super) attempt: Option<u32>,
    pub(super) failure: Failure,
    /// When the next is due, if there is one.
    pub(super) retry_at: Option<i64>,
}

/// Where a step, or the function, stands at the end of the part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Open,
    Done,
    Failed,
    Blocked,
}

/// The function, or one step.
#[derive(Debug)]
pub(super) struct Row {
    /// The step's position; the function has none.
    pub(super) position: Option<u64>,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) arguments: Option<Payload>,
    pub(super) result: Option<Payload>,
    pub(super) failures: Vec<Failed>,
    pub(super) attempts: u32,
    pub(super) bars: Vec<Bar>,
    pub(super) state: State,
    /// Since when what is next has been going on, if something is.
    since: Option<i64>,
}

/// Something that has no length, and is no step.
#[derive(Debug)]
pub(super) struct Note {
    pub(super) sequence: u64,
    pub(super) at: i64,
    pub(super) event: Event,
}

/// All of it.
#[derive(Debug)]
pub(super) struct Timeline {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) function: Row,
    pub(super) steps: Vec<Row>,
    pub(super) notes: Vec<Note>,
}

impl Row {
    fn new(position: Option<u64>, kind: String, name: String, since: i64) -> Self {
        Self {
            position,
            kind,
            name,
            arguments: None,
            result: None,
            failures: Vec::new(),
            attempts: 0,
            bars: Vec::new(),
            state: State::Open,
            since: Some(since),
        }
    }

    /// What has been going on until `at` is over.
    fn end(&mut self, at: i64, before: i64, kind: BarKind) {
        let from = self.since.take().unwrap_or(before).min(at);
        self.bars.push(Bar { from, to: at, kind });
    }

    fn fail(&mut self, failed: Failed, before: i64) {
        self.end(failed.at, before, BarKind::Failed);
        self.attempts = failed.attempt.unwrap_or(self.attempts);
        self.state = State::Failed;
        if let Some(due) = failed.retry_at {
            let (from, kind) = (failed.at, BarKind::Delay);
            self.bars.push(Bar {
                from,
                to: due,
                kind,
            });
            self.since = Some(due);
            self.state = State::Open;
        }
        self.failures.push(failed);
    }

    fn succeed(&mut self, result: Payload, attempts: u32, at: i64, before: i64) {
        self.end(at, before, BarKind::Done);
        self.attempts = attempts;
        self.result = Some(result);
        self.state = State::Done;
    }
}

impl Timeline {
    /// What follows from a part of a history of this function. With `now` the execution is running.
    pub(super) fn new(function: &str, events: Vec<(u64, Event)>, now: Option<i64>) -> Self {
        let from = events
            .first()
            .map_or(0, |(_, event)| event.at().as_millis());
        let row = Row::new(None, "function".to_owned(), function.to_owned(), from);
        let mut line = Self {
            from,
            to: from,
            function: row,
            steps: Vec::new(),
            notes: Vec::new(),
        };
        let mut steps = BTreeMap::new();
        let mut before = from;
        for (sequence, event) in events {
            let at = event.at().as_millis();
            line.take(&mut steps, sequence, event, before);
            line.to = line.to.max(at);
            before = at;
        }
        line.steps = steps.into_values().collect();
        line.close(now);
        line
    }

    #[allow(clippy::too_many_lines, reason = "one short arm for each event")]
    fn take(&mut self, steps: &mut BTreeMap<u64, Row>, sequence: u64, event: Event, before: i64) {
        let at = event.at().as_millis();
        match event {
            Event::Started { arguments, .. } => self.function.arguments = Some(arguments),
            Event::CommandStarted { step, attempt, .. } => {
                let row = row(steps, step, before);
                row.since = Some(at);
                row.attempts = attempt;
                row.state = State::Open;
            }
            Event::CommandAttemptFailed {
                step,
                attempt,
                failure,
                retry_at,
                ..
            } => {
                let retry_at = Some(retry_at.as_millis());
                let attempt = Some(attempt);
                let failed = Failed {
                    at,
                    attempt,
                    failure,
                    retry_at,
                };
                row(steps, step, before).fail(failed, before);
            }
            Event::CommandCompleted {
                step,
                attempts,
                result,
                ..
            } => {
                row(steps, step, before).succeed(result, attempts, at, before);
            }
            Event::CommandFailed {
                step,
                attempts,
                failure,
                ..
            } => {
                let attempt = Some(attempts);
                let failed = Failed {
                    at,
                    attempt,
                    failure,
                    retry_at: None,
                };
                row(steps, step, before).fail(failed, before);
            }
            Event::StepFailed { step, failure, .. } => {
                let failed = Failed {
                    at,
                    attempt: None,
                    failure,
                    retry_at: None,
                };
                row(steps, step, before).fail(failed, before);
            }
            Event::ValueRecorded { step, value, .. } => {
                let row = row(steps, step, before);
                row.since = Some(at);
                row.succeed(value, 0, at, before);
            }
            Event::TimerSet { step, due, .. } => {
                let row = row(steps, step, before);
                let (to, kind) = (due.as_millis(), BarKind::Wait);
                row.bars.push(Bar { from: at, to, kind });
                row.since = None;
            }
            Event::TimerFired { step, .. } => {
                let row = row(steps, step, before);
                row.state = State::Done;
                if let Some(bar) = row.bars.last_mut() {
                    bar.to = at;
                }
            }
            Event::FunctionAttemptFailed {
                attempt,
                failure,
                retry_at,
                ..
            } => {
                let retry_at = retry_at.map(|retry_at| retry_at.as_millis());
                let attempt = Some(attempt);
                let failed = Failed {
                    at,
                    attempt,
                    failure,
                    retry_at,
                };
                self.function.fail(failed, before);
            }
            Event::Completed { result, .. } => {
                let attempts = self.function.attempts;
                self.function.succeed(result, attempts, at, before);
            }
            event @ Event::Blocked { .. } => {
                self.function.end(at, before, BarKind::Failed);
                self.function.state = State::Blocked;
                self.notes.push(Note {
                    sequence,
                    at,
                    event,
                });
            }
            event @ Event::Resumed { .. } => {
                self.function.since = Some(at);
                self.function.state = State::Open;
                self.notes.push(Note {
                    sequence,
                    at,
                    event,
                });
            }
            // What has no picture of its own is told in words.
            event => self.notes.push(Note {
                sequence,
                at,
                event,
            }),
        }
    }

    /// Ends what is going on, and sees to it that every bar has its place.
    fn close(&mut self, now: Option<i64>) {
        let ends = [now.unwrap_or(self.to), self.from.saturating_add(1)];
        self.to = ends.into_iter().fold(self.to, i64::max);
        let rows = || std::iter::once(&self.function).chain(&self.steps);
        // A delay that ends soon is shown to its end, a wait of a month is not: nothing else would be seen.
        let span = self.to.saturating_sub(self.from).max(60_000);
        let most = self.to.saturating_add(span);
        let due = rows().flat_map(|row| &row.bars).map(|bar| bar.to);
        let to = due.filter(|to| *to <= most).fold(self.to, i64::max);
        for row in std::iter::once(&mut self.function).chain(&mut self.steps) {
            let going = (row.state == State::Open).then_some(now).flatten();
            if let (Some(now), Some(from)) = (going, row.since)
                && from < now
            {
                let kind = BarKind::Open;
                row.bars.push(Bar {
                    from,
                    to: now,
                    kind,
                });
            }
            for bar in &mut row.bars {
                bar.to = bar.to.min(to).max(bar.from);
            }
        }
        self.to = to;
    }
}

/// The row of a step, which is new with its first event.
fn row(steps: &mut BTreeMap<u64, Row>, step: Step, before: i64) -> &mut Row {
    let position = u64::from(step.position.0);
    let row = steps
        .entry(position)
        .or_insert_with(|| Row::new(Some(position), step.kind.to_string(), step.name, before));
    row.arguments = Some(step.arguments);
    row
}

#[cfg(test)]
mod tests {
    use skail_runtime::clock::Timestamp;
    use skail_runtime::history::ExportedHistory;

    use super::*;

    /// The part of a history that JSON says.
    fn line(events: &str, now: Option<i64>) -> Timeline {
        let json = format!(r#"{{"skail_history": 1, "execution": "x", "events": [{events}]}}"#);
        let history = ExportedHistory::from_json(&json).unwrap();
        let events = (0..).zip(history.events().iter().cloned()).collect();
        Timeline::new("sell", events, now)
    }

    fn bars(row: &Row) -> Vec<(i64, i64, BarKind)> {
        row.bars
            .iter()
            .map(|bar| (bar.from, bar.to, bar.kind))
            .collect()
    }

    fn step(kind: &str) -> String {
        let digest = serde_json::to_string(&Payload::encode(&()).unwrap().digest()).unwrap();
        format!(
            r#""step": {{"position": 0, "kind": "{kind}", "name": "s", "digest": {digest}, "arguments": {{"value": []}}}}"#
        )
    }

    const STARTED: &str =
        r#"{"Started": {"at": 1000, "function": "sell", "arguments": {"value": [1]}}}"#;

    #[test]
    fn attempts_and_the_delays_between_them_are_bars() {
        let step = step("Command");
        let failure = r#"{"kind": "Failed", "message": "no"}"#;
        let events = format!(
            r#"{STARTED},
            {{"CommandAttemptFailed": {{"at": 1100, {step}, "attempt": 1, "failure": {failure}, "retry_at": 1300}}}},
            {{"CommandCompleted": {{"at": 1350, {step}, "attempts": 2, "result": {{"value": 7}}}}}},
            {{"Completed": {{"at": 1360, "result": {{"value": 7}}}}}}"#
        );
        let line = line(&events, None);
        let wanted = [
            (1000, 1100, BarKind::Failed),
            (1100, 1300, BarKind::Delay),
            (1300, 1350, BarKind::Done),
        ];
        assert_eq!(bars(&line.steps[0]), wanted);
        assert_eq!(
            (line.steps[0].attempts, line.steps[0].state),
            (2, State::Done)
        );
        assert_eq!(bars(&line.function), [(1000, 1360, BarKind::Done)]);
        assert_eq!((line.from, line.to), (1000, 1360));
    }

    #[test]
    fn what_goes_on_is_open_until_now_and_a_long_wait_does_not_hide_the_rest() {
        let step = step("Timer");
        let month = 1000 + 30 * 86_400_000_i64;
        let events =
            format!(r#"{STARTED}, {{"TimerSet": {{"at": 1010, {step}, "due": {month}}}}}"#);
        let line = line(&events, Some(2000));
        assert_eq!(bars(&line.function), [(1000, 2000, BarKind::Open)]);
        assert_eq!(bars(&line.steps[0]), [(1010, 2000, BarKind::Wait)]);
        assert_eq!(line.steps[0].state, State::Open);
    }

    #[test]
    fn no_history_is_too_strange_to_be_drawn() {
        let far = Timestamp::MAX.as_millis();
        let step = step("Timer");
        let events = format!(
            r#"{{"TimerFired": {{"at": 5, {step}}}}}, {{"TimerSet": {{"at": 3, {step}, "due": {far}}}}},
            {{"Patched": {{"at": 1, "id": "x", "position": 0}}}}, {{"Resumed": {{"at": {far}, "accepted": []}}}}"#
        );
        let line = line(&events, Some(far));
        assert_eq!(line.notes.len(), 2);
        let none = Timeline::new("sell", Vec::new(), None);
        assert!(none.steps.is_empty() && none.to > none.from);
    }
}
