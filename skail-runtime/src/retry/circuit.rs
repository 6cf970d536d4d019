//! A running circuit breaker.
//!
//! Owns the state and what changes it. Pure: time and randomness are passed in; must never wait, and
//! never let through more probes than it was told.

use std::collections::VecDeque;
use std::time::Duration;

use super::InvalidSetting;
use super::breaker::{Breaker, Span};
use super::reentry::Reentry;
use super::window::Window;
use crate::clock::Timestamp;

/// Where a breaker stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CircuitState {
    /// Calls go through.
    Closed,
    /// Calls wait.
    Open,
    /// A few calls go through, and decide.
    HalfOpen,
}

impl std::fmt::Display for CircuitState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half-open",
        })
    }
}

/// Who asks to make a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// A first attempt that did not wait yet.
    First,
    /// A retry that did not wait yet; so many wait before it. It does not go before them, or the same few
    /// would be the probes of every trial, until their attempts are spent.
    Retry {
        /// How many wait.
        behind: u64,
    },
    /// An attempt that was told to wait before.
    Waited,
}

/// The leave to make one call. It has to be given back, with [`Circuit::ended`] or
/// [`Circuit::forgotten`]: a probe that is neither blocks the trial for `probe_patience`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    generation: u64,
    /// Whether it was a retry, or had waited.
    extra: bool,
}

/// The running breaker of one dependency, under the settings of a [`Breaker`].
///
/// ```
/// use std::time::Duration;
/// use skail_runtime::clock::Timestamp;
/// use skail_runtime::retry::{Breaker, Caller, Circuit, CircuitState};
///
/// let at = Timestamp::from_millis;
/// let mut circuit = Circuit::new(Breaker::new().in_a_row(2).probes(1))?;
/// for _ in 0..2 {
///     let call = circuit.admit(at(0), Caller::First).unwrap();
///     circuit.ended(call, false, Duration::ZERO, at(0), 0.0);
/// }
/// assert_eq!(circuit.state(), CircuitState::Open);
/// // Who asks is told when to ask again.
/// assert_eq!(circuit.admit(at(1), Caller::First), Err(at(5_000)));
/// let probe = circuit.admit(at(5_000), Caller::Waited).unwrap();
/// assert!(circuit.admit(at(5_000), Caller::First).is_err(), "one probe at a time");
/// circuit.ended(probe, true, Duration::ZERO, at(5_010), 0.0);
/// assert_eq!(circuit.state(), CircuitState::Closed);
/// # Ok::<(), skail_runtime::retry::InvalidSetting>(())
/// ```
#[derive(Debug, Clone)]
pub struct Circuit {
    breaker: Breaker,
    state: State,
    /// Changes with every change of the state: results of calls that began before say nothing now.
    generation: u64,
    /// How many trials in a row came out badly.
    failed_trials: u32,
    reentry: Reentry,
}

#[derive(Debug, Clone)]
enum State {
    Closed(Calls),
    Open { since: Timestamp, until: Timestamp },
    HalfOpen(Trial),
}

#[derive(Debug, Clone)]
struct Trial {
    /// How many probes may still be let through.
    free: u32,
    succeeded: u32,
    failed: u32,
    since: Timestamp,
}

impl Circuit {
    /// A closed one.
    ///
    /// # Errors
    /// [`InvalidSetting`] names what cannot work.
    pub fn new(breaker: Breaker) -> Result<Self, InvalidSetting> {
        breaker.check()?;
        Ok(Self {
            breaker,
            state: State::Closed(Calls::new(breaker.window)),
            generation: 0,
            failed_trials: 0,
            reentry: Reentry::new(breaker.probes),
        })
    }

    /// Where it stands. An open one whose time has come is open until somebody asks.
    #[must_use]
    pub fn state(&self) -> CircuitState {
        match self.state {
            State::Closed(_) => CircuitState::Closed,
            State::Open { .. } => CircuitState::Open,
            State::HalfOpen(_) => CircuitState::HalfOpen,
        }
    }

    /// Asks to make a call.
    ///
    /// # Errors
    /// When to ask again. Of many who wait, each is told another time.
    pub fn admit(&mut self, now: Timestamp, caller: Caller) -> Result<Ticket, Timestamp> {
        if let State::Open { since, until } = &mut self.state {
            if now < *since {
                // The clock was set back: the wait begins again, and not when the old time comes.
                *until = now.saturating_add(until.saturating_since(*since));
                *since = now;
            }
            if now < *until {
                let until = *until;
                return Err(self.reentry.turn_from(until, caller));
            }
            self.generation += 1;
            self.state = State::HalfOpen(Trial {
                free: self.breaker.probes,
                succeeded: 0,
                failed: 0,
                since: now,
            });
        }
        match &mut self.state {
            State::HalfOpen(trial) => {
                if now.saturating_since(trial.since) >= self.breaker.probe_patience {
                    // Those who are out may never come back.
                    trial.free = self.breaker.probes;
                    trial.since = now;
                }
                if trial.free == 0 {
                    let look = self.breaker.cool_down / 10;
                    let look = look.clamp(Duration::from_millis(1), Duration::from_secs(1));
                    return Err(self.reentry.turn_from(now.saturating_add(look), caller));
                }
                trial.free -= 1;
            }
            State::Closed(_) | State::Open { .. } => {
                if !self.reentry.enter(now, caller) {
                    return Err(self.reentry.turn(now));
                }
            }
        }
        Ok(Ticket {
            generation: self.generation,
            extra: caller != Caller::First,
        })
    }

    /// Whether a call that was let through may still begin: nothing has changed since.
    #[must_use]
    pub fn is_current(&self, ticket: Ticket) -> bool {
        ticket.generation == self.generation
    }

    /// A call has ended: whether the dependency did its work, and how long it took. `random`, from
    /// `[0, 1)`, spreads the cool-down. Gives whether it counted: a call that began before the state
    /// last changed does not.
    pub fn ended(
        &mut self,
        ticket: Ticket,
        succeeded: bool,
        took: Duration,
        now: Timestamp,
        random: f64,
    ) -> bool {
        if !self.is_current(ticket) {
            return false;
        }
        let slow = self.breaker.slow_after.is_some_and(|after| took >= after);
        let failed = !succeeded || slow;
        if !failed {
            self.reentry.succeeded(now);
        }
        let breaker = self.breaker;
        let next = match &mut self.state {
            State::Closed(calls) => {
                calls.add(now, failed);
                calls.trips(&breaker).then_some(CircuitState::Open)
            }
            State::HalfOpen(trial) => {
                trial.succeeded += u32::from(!failed);
                trial.failed += u32::from(failed);
                trial.verdict(&breaker)
            }
            State::Open { .. } => None,
        };
        match next {
            Some(CircuitState::Open) => self.open(now, random),
            Some(CircuitState::Closed) => {
                self.generation += 1;
                self.failed_trials = 0;
                self.state = State::Closed(Calls::new(breaker.window));
                self.reentry.closed(now);
            }
            Some(CircuitState::HalfOpen) | None => {}
        }
        true
    }

    /// A call came to nothing: it was dropped, or never began. Another may take its place.
    pub fn forgotten(&mut self, ticket: Ticket) {
        if !self.is_current(ticket) {
            return;
        }
        match &mut self.state {
            State::HalfOpen(trial) => {
                trial.free = self.breaker.probes.min(trial.free.saturating_add(1));
            }
            State::Closed(_) if ticket.extra => self.reentry.left(),
            State::Closed(_) | State::Open { .. } => {}
        }
    }

    fn open(&mut self, now: Timestamp, random: f64) {
        let share = if (0.0..1.0).contains(&random) {
            random
        } else {
            0.0
        };
        if matches!(self.state, State::HalfOpen(_)) {
            self.failed_trials = self.failed_trials.saturating_add(1);
        }
        let Breaker {
            cool_down,
            longest_cool_down,
            ..
        } = self.breaker;
        let doubled = 1_u32.checked_shl(self.failed_trials).unwrap_or(u32::MAX);
        let cool_down = cool_down
            .saturating_mul(doubled)
            .min(longest_cool_down.max(cool_down));
        let time = cool_down.saturating_add((cool_down / 5).mul_f64(share));
        self.generation += 1;
        self.state = State::Open {
            since: now,
            until: now.saturating_add(time),
        };
        self.reentry.opened(now);
    }
}

impl Trial {
    /// What the probes say, as soon as the ones that are missing cannot change it.
    fn verdict(&self, breaker: &Breaker) -> Option<CircuitState> {
        let to_open = (u64::from(breaker.probes) * u64::from(breaker.failure_per_mille))
            .div_ceil(1_000)
            .max(1);
        let to_close = u64::from(breaker.probes).saturating_sub(to_open) + 1;
        if u64::from(self.failed) >= to_open {
            Some(CircuitState::Open)
        } else if u64::from(self.succeeded) >= to_close {
            Some(CircuitState::Closed)
        } else {
            None
        }
    }
}

/// The calls that are remembered.
#[derive(Debug, Clone)]
struct Calls {
    recent: Recent,
    /// How many of the latest failed one after the other.
    in_a_row: u32,
}

#[derive(Debug, Clone)]
enum Recent {
    Time(Window<2>),
    Last {
        calls: VecDeque<bool>,
        failed: u32,
        most: u32,
    },
}

impl Calls {
    fn new(span: Span) -> Self {
        let recent = match span {
            Span::Time(span) => Recent::Time(Window::new(span)),
            Span::Calls(most) => Recent::Last {
                calls: VecDeque::new(),
                failed: 0,
                most,
            },
        };
        Self {
            recent,
            in_a_row: 0,
        }
    }

    fn add(&mut self, now: Timestamp, failure: bool) {
        self.in_a_row = if failure {
            self.in_a_row.saturating_add(1)
        } else {
            0
        };
        match &mut self.recent {
            Recent::Time(window) => {
                window.advance(now);
                window.add(usize::from(failure));
            }
            Recent::Last {
                calls,
                failed,
                most,
            } => {
                if calls.len() >= *most as usize {
                    let oldest = calls.pop_front().unwrap_or(false);
                    *failed -= u32::from(oldest);
                }
                calls.push_back(failure);
                *failed += u32::from(failure);
            }
        }
    }

    /// Whether the call that was added last opens the breaker; only a failed one does.
    fn trips(&self, breaker: &Breaker) -> bool {
        let (all, failed) = match &self.recent {
            Recent::Time(window) => (window.total(0) + window.total(1), window.total(1)),
            Recent::Last { calls, failed, .. } => (calls.len() as u64, u64::from(*failed)),
        };
        let share =
            failed.saturating_mul(1_000) >= all.saturating_mul(breaker.failure_per_mille.into());
        let enough = all >= u64::from(breaker.minimum_calls);
        self.in_a_row >= breaker.in_a_row || (self.in_a_row > 0 && enough && share)
    }
}
