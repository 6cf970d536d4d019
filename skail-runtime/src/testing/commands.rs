//! What commands do in a test: substituted bodies, counts, recorded arguments, the order of ends.
//!
//! Owns the kit's side of the engine's hooks. Must never touch a history: what it puts in the place of a
//! body goes the way of a body.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::order::Order;
use crate::codec::Payload;
use crate::descriptor::{CommandDescriptor, Register, Registration};
use crate::engine::{Hooks, Substitute};
use crate::error::{Advice, BodyError, Failure, FailureKind};
use crate::ids::Position;
use crate::state::StateMap;

/// See the module.
#[derive(Default)]
pub(super) struct Commands {
    state: StateMap,
    substitutes: HashMap<&'static str, Substitute>,
    order: Option<Order>,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// The arguments of each run, by command.
    runs: HashMap<&'static str, Vec<Payload>>,
    /// A command ran that lacks its state: what to do about it.
    missing: Option<String>,
}

impl Commands {
    pub(super) fn new(
        state: StateMap,
        substitutes: HashMap<&'static str, Substitute>,
        order: Option<Order>,
    ) -> Self {
        Self {
            state,
            substitutes,
            order,
            seen: Mutex::default(),
        }
    }

    pub(super) fn state(&self) -> &StateMap {
        &self.state
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn runs(&self, command: &str) -> u32 {
        let runs = self.seen().runs.get(command).map_or(0, Vec::len);
        u32::try_from(runs).unwrap_or(u32::MAX)
    }

    pub(super) fn arguments(&self, command: &str) -> Vec<Payload> {
        self.seen().runs.get(command).cloned().unwrap_or_default()
    }

    /// What is wrong with the test itself, if something is.
    pub(super) fn missing(&self) -> Option<String> {
        self.seen().missing.clone()
    }
}

impl Hooks for Commands {
    fn begins(
        &self,
        command: &'static CommandDescriptor,
        arguments: &Payload,
    ) -> Option<Substitute> {
        {
            let seen = &mut *self.seen();
            let runs = seen.runs.entry(command.name).or_default();
            runs.push(arguments.clone());
        }
        if let Some(substitute) = self.substitutes.get(command.name) {
            return Some(Substitute::clone(substitute));
        }
        let mut wanted = command.states.iter().map(|key| key());
        let missing = wanted.find(|key| !self.state.has(*key))?;
        let message = format!(
            "the command `{}` ({}) asks for `#[state] &{}`, and the test gave none: add `.state(…)` with \
             a value of that type, or `.replace::<{}>()` with something in the place of its body",
            command.name,
            command.site,
            missing.name(),
            command.name
        );
        self.seen().missing.get_or_insert(message.clone());
        let mut failure = Failure::new(FailureKind::Failed, message);
        failure.advice = Advice::Permanent;
        Some(std::sync::Arc::new(move |_| {
            let failure = failure.clone();
            Box::pin(async move { Err(BodyError::User(failure)) })
        }))
    }

    fn lag(&self, position: Position, attempt: u32) -> Duration {
        self.order
            .map_or(Duration::ZERO, |order| order.lag(position, attempt))
    }
}

impl fmt::Debug for Commands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commands")
            .field("state", &self.state)
            .field("replaced", &self.substitutes.keys())
            .field("order", &self.order)
            .finish_non_exhaustive()
    }
}

/// The recorded name of a command.
///
/// # Panics
/// If it is a function.
pub(super) fn name_of<C: Register>() -> &'static str {
    let (name, is_command) = match C::REGISTRATION {
        Registration::Command(command) => (command.name, true),
        Registration::Function(function) => (function.name, false),
    };
    assert!(
        is_command,
        "`{name}` is a function; a test replaces and counts commands"
    );
    name
}
