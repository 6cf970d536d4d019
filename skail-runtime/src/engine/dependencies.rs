//! What commands call, by name: one breaker and one budget each, for this engine.
//!
//! Owns the running dependencies and the leave that an attempt needs of one. Must never wait: who is held
//! is told until when, and asks again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock::Timestamp;
use crate::retry::{Caller, Circuit, CircuitState, Dependency, InvalidSetting, Ledger, Ticket};

/// The dependencies of one engine.
#[derive(Debug, Default)]
pub(crate) struct Dependencies {
    by_name: Mutex<HashMap<String, Arc<Running>>>,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct Running {
    name: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    circuit: Option<Circuit>,
    ledger: Option<Ledger>,
    counts: DependencyCounts,
    waiting_for_breaker: u64,
    waiting_for_budget: u64,
}

/// What a dependency has been through since the engine started, for metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DependencyCounts {
    /// First attempts that began.
    pub first_attempts: u64,
    /// Retries that began.
    pub retries: u64,
    /// Attempts that the dependency answered, were it with a permanent refusal.
    pub succeeded: u64,
    /// Attempts that failed, panicked or took too long.
    pub failed: u64,
    /// Attempts that were dropped, or whose process stopped, before their end.
    pub dropped: u64,
    /// Results that came when the breaker had changed its state since their attempt began: they change
    /// nothing any more. Each is among the succeeded or the failed too.
    pub late: u64,
    /// How often an attempt was told to wait because the breaker was not closed, or had closed just now.
    pub held_by_breaker: u64,
    /// How often a retry was told to wait because the budget was spent.
    pub held_by_budget: u64,
    /// How often the breaker opened.
    pub opened: u64,
    /// How often it began to try.
    pub half_opened: u64,
    /// How often it closed again.
    pub closed: u64,
}

/// Where a dependency stands in this engine; see [`Skail::dependency`](crate::Skail::dependency).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DependencyStatus {
    /// Its breaker; `None` without one.
    pub circuit: Option<CircuitState>,
    /// How many retries its budget has left in this window; `None` without one.
    pub retries_left: Option<u64>,
    /// The attempts in memory that wait for the breaker. Those that wait for long have left memory.
    pub waiting_for_breaker: u64,
    /// The retries in memory that wait for the budget.
    pub waiting_for_budget: u64,
    /// What it has been through.
    pub counts: DependencyCounts,
}

/// What keeps an attempt from starting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeper {
    Breaker,
    Budget,
}

/// An attempt may not start yet. Counts as waiting while it is kept.
#[derive(Debug)]
pub(crate) struct Hold {
    /// When to ask again.
    pub(crate) until: Timestamp,
    keeper: Keeper,
    dependency: Arc<Running>,
}

/// Who asks for leave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker {
    /// Whether the command's effect was tried before.
    pub(crate) retry: bool,
    /// Whether it was held before.
    pub(crate) waited: bool,
}

/// The leave to make one attempt. Dropped before the attempt has ended, it makes room for another.
#[derive(Debug)]
pub(crate) struct Leave {
    dependency: Arc<Running>,
    ticket: Option<Ticket>,
    retry: bool,
    /// Whether the budget counts it and it has not begun.
    reserved: bool,
    began: Option<Timestamp>,
}

impl Dependencies {
    /// The configured ones, and those that commands name.
    pub(crate) fn new(
        configured: HashMap<String, Dependency>,
        named: &[&'static str],
    ) -> Result<Self, (String, InvalidSetting)> {
        let mut by_name = HashMap::new();
        for (name, dependency) in configured {
            if !named.contains(&&*name) {
                tracing::warn!(
                    dependency = name,
                    ?named,
                    "no command names this dependency"
                );
            }
            let running = Running::new(&name, dependency).map_err(|error| (name.clone(), error))?;
            by_name.insert(name, running);
        }
        let dependencies = Self {
            by_name: Mutex::new(by_name),
        };
        named.iter().for_each(|name| drop(dependencies.get(name)));
        Ok(dependencies)
    }

    /// The dependency of this name, with the defaults if it was not configured.
    pub(crate) fn get(&self, name: &str) -> Arc<Running> {
        let mut by_name = lock(&self.by_name);
        if let Some(running) = by_name.get(name) {
            return Arc::clone(running);
        }
        let running = Running::new(name, Dependency::DEFAULT).expect("the defaults can work");
        by_name.insert(name.to_owned(), Arc::clone(&running));
        running
    }

    /// Where the one of this name stands, if there is one.
    pub(crate) fn status(&self, name: &str, now: Timestamp) -> Option<DependencyStatus> {
        let running = lock(&self.by_name).get(name).map(Arc::clone);
        running.map(|running| running.status(now))
    }

    /// Where all of them stand, by name.
    pub(crate) fn statuses(&self, now: Timestamp) -> Vec<(String, DependencyStatus)> {
        let mut all: Vec<_> = lock(&self.by_name)
            .iter()
            .map(|(name, running)| (name.clone(), running.status(now)))
            .collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all
    }
}

impl Running {
    fn new(name: &str, dependency: Dependency) -> Result<Arc<Self>, InvalidSetting> {
        Ok(Arc::new(Self {
            name: name.to_owned(),
            state: Mutex::new(State {
                circuit: dependency.breaker.map(Circuit::new).transpose()?,
                ledger: dependency.budget.map(Ledger::new).transpose()?,
                counts: DependencyCounts::default(),
                waiting_for_breaker: 0,
                waiting_for_budget: 0,
            }),
        }))
    }

    /// Asks for leave to make an attempt.
    pub(crate) fn ask(self: &Arc<Self>, asker: Asker, now: Timestamp) -> Result<Leave, Hold> {
        let Asker { retry, waited } = asker;
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        let caller = match asker {
            Asker { waited: true, .. } => Caller::Waited,
            Asker { retry: true, .. } => Caller::Retry {
                behind: state.waiting_for_breaker,
            },
            Asker { .. } => Caller::First,
        };
        let admitted = state.watch(&self.name, |circuit| circuit.admit(now, caller));
        let ticket = match admitted.transpose() {
            Ok(ticket) => ticket,
            Err(until) => return Err(self.hold(state, Keeper::Breaker, until)),
        };
        if retry
            && let Some(ledger) = &mut state.ledger
            && let Err(until) = ledger.retry(now, waited)
        {
            if let (Some(ticket), Some(circuit)) = (ticket, &mut state.circuit) {
                circuit.forgotten(ticket);
            }
            return Err(self.hold(state, Keeper::Budget, until));
        }
        Ok(Leave {
            dependency: Arc::clone(self),
            ticket,
            retry,
            reserved: retry,
            began: None,
        })
    }

    fn hold(self: &Arc<Self>, state: &mut State, keeper: Keeper, until: Timestamp) -> Hold {
        match keeper {
            Keeper::Breaker => {
                state.counts.held_by_breaker += 1;
                state.waiting_for_breaker += 1;
            }
            Keeper::Budget => {
                state.counts.held_by_budget += 1;
                state.waiting_for_budget += 1;
            }
        }
        Hold {
            until,
            keeper,
            dependency: Arc::clone(self),
        }
    }

    fn status(&self, now: Timestamp) -> DependencyStatus {
        let mut state = lock(&self.state);
        DependencyStatus {
            circuit: state.circuit.as_ref().map(Circuit::state),
            retries_left: state.ledger.as_mut().map(|ledger| ledger.left(now)),
            waiting_for_breaker: state.waiting_for_breaker,
            waiting_for_budget: state.waiting_for_budget,
            counts: state.counts,
        }
    }
}

impl State {
    /// Does something with the breaker, and tells and counts a change of its state.
    fn watch<R>(&mut self, name: &str, act: impl FnOnce(&mut Circuit) -> R) -> Option<R> {
        let circuit = self.circuit.as_mut()?;
        let before = circuit.state();
        let result = act(circuit);
        let after = circuit.state();
        if before != after {
            let counts = &mut self.counts;
            let count = match after {
                CircuitState::Open => &mut counts.opened,
                CircuitState::HalfOpen => &mut counts.half_opened,
                CircuitState::Closed => &mut counts.closed,
            };
            *count += 1;
            if after == CircuitState::Open {
                tracing::warn!(dependency = name, %before, "breaker opened: attempts wait");
            } else {
                tracing::info!(dependency = name, %before, %after, "breaker changed");
            }
        }
        Some(result)
    }
}

impl Hold {
    /// What it waits for, for people.
    pub(crate) fn reason(&self) -> String {
        let why = match self.keeper {
            Keeper::Breaker => "breaker open",
            Keeper::Budget => "retry budget spent",
        };
        format!("waiting for {} ({why})", self.dependency.name)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut state = lock(&self.dependency.state);
        match self.keeper {
            Keeper::Breaker => state.waiting_for_breaker -= 1,
            Keeper::Budget => state.waiting_for_budget -= 1,
        }
    }
}

impl Leave {
    /// The body begins, unless the breaker has changed its state since the leave was given. What has begun
    /// goes on.
    pub(crate) fn begin(mut self, now: Timestamp) -> Result<Self, Hold> {
        if self.began.is_some() {
            // Its start was recorded meanwhile; the body's time begins now.
            self.began = Some(now);
            return Ok(self);
        }
        let dependency = Arc::clone(&self.dependency);
        let mut guard = lock(&dependency.state);
        let state = &mut *guard;
        if let (Some(ticket), Some(circuit)) = (self.ticket, &mut state.circuit)
            && !circuit.is_current(ticket)
        {
            self.ticket = None;
            let admitted = state.watch(&dependency.name, |circuit| {
                circuit.admit(now, Caller::Waited)
            });
            match admitted.transpose() {
                Ok(ticket) => self.ticket = ticket,
                Err(until) => return Err(dependency.hold(state, Keeper::Breaker, until)),
            }
        }
        self.began = Some(now);
        self.reserved = false;
        if self.retry {
            state.counts.retries += 1;
        } else {
            state.counts.first_attempts += 1;
            if let Some(ledger) = &mut state.ledger {
                ledger.first(now);
            }
        }
        drop(guard);
        Ok(self)
    }

    /// The attempt has ended: whether the dependency did its work; `None` if that cannot be said.
    pub(crate) fn end(mut self, worked: Option<bool>, now: Timestamp, random: f64) {
        let (Some(worked), Some(began)) = (worked, self.began) else {
            return;
        };
        let dependency = Arc::clone(&self.dependency);
        let mut state = lock(&dependency.state);
        if worked {
            state.counts.succeeded += 1;
        } else {
            state.counts.failed += 1;
        }
        let took = now.saturating_since(began);
        self.began = None;
        if let Some(ticket) = self.ticket.take() {
            let ended = |circuit: &mut Circuit| circuit.ended(ticket, worked, took, now, random);
            if state.watch(&dependency.name, ended) == Some(false) {
                state.counts.late += 1;
            }
        }
    }
}

impl Drop for Leave {
    fn drop(&mut self) {
        let mut state = lock(&self.dependency.state);
        if self.began.is_some() {
            state.counts.dropped += 1;
        }
        if self.reserved
            && let Some(ledger) = &mut state.ledger
        {
            ledger.returned();
        }
        if let (Some(ticket), Some(circuit)) = (self.ticket.take(), &mut state.circuit) {
            circuit.forgotten(ticket);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is inside is valid at every point, and nothing in here panics short of memory running out.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retry::{Breaker, Budget};

    const FIRST: Asker = Asker {
        retry: false,
        waited: false,
    };
    const RETRY: Asker = Asker {
        retry: true,
        waited: false,
    };

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn running(dependency: Dependency) -> Arc<Running> {
        Running::new("it", dependency).expect("it can work")
    }

    fn fail(running: &Arc<Running>) {
        let leave = running.ask(FIRST, at(0)).expect("it is closed");
        let leave = leave.begin(at(0)).expect("it is closed");
        leave.end(Some(false), at(0), 0.0);
    }

    #[test]
    fn what_has_begun_goes_on_though_the_breaker_opens_and_what_has_not_is_held() {
        let one = Breaker::new().in_a_row(1);
        let running = running(Dependency::new().breaker(one));
        let begun = running.ask(FIRST, at(0)).expect("it is closed");
        let begun = begun.begin(at(0)).expect("it is closed");
        let only_asked = running.ask(FIRST, at(0)).expect("it is closed");
        fail(&running);
        assert!(only_asked.begin(at(1)).is_err());
        // Its start may be recorded by now: from then on it is an attempt.
        let begun = begun.begin(at(1)).expect("it has begun");
        begun.end(Some(true), at(2), 0.0);
        let status = running.status(at(2));
        assert_eq!(status.circuit, Some(CircuitState::Open));
        assert_eq!((status.counts.late, status.counts.first_attempts), (1, 2));
    }

    #[test]
    fn a_retry_that_does_not_begin_costs_the_budget_nothing() {
        let budget = Budget::new().floor_per_second(11);
        let running = running(Dependency::new().budget(budget));
        let left = |running: &Arc<Running>| running.status(at(0)).retries_left;
        let before = left(&running);
        for _ in 0..1_000 {
            drop(running.ask(RETRY, at(0)).expect("nobody took it"));
        }
        assert_eq!(left(&running), before);
        let leave = running.ask(RETRY, at(0)).expect("nobody took it");
        drop(leave.begin(at(0)).expect("it is closed"));
        assert_eq!(left(&running), before.map(|left| left - 1));
        // Held at the very beginning: it asks again, and is counted then.
        let leave = running.ask(RETRY, at(0)).expect("there is room");
        (0..10).for_each(|_| fail(&running));
        drop(leave.begin(at(0)).expect_err("it is open"));
        assert_eq!(left(&running), before.map(|left| left - 1));
    }
}
