//! Which functions and commands this process has.
//!
//! Owns the checks at start: one meaning per name, every `#[state]` there. Must never run anything.

use std::collections::HashMap;
use std::sync::Arc;

use crate::descriptor::{CommandDescriptor, FunctionDescriptor, Registration, Site};
use crate::state::{StateKey, StateMap};

/// The functions and commands by their recorded names.
#[derive(Debug)]
pub(crate) struct Registry {
    functions: HashMap<&'static str, &'static FunctionDescriptor>,
    names: Arc<[String]>,
    dependencies: Vec<&'static str>,
    /// In a test: the functions that lack state, and what to do about it.
    lacking: HashMap<&'static str, String>,
}

/// Something is wrong with what is registered; everything that is wrong is listed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Skail cannot start: {}", .problems.join("; "))]
pub struct RegistryError {
    /// One sentence each.
    pub problems: Vec<String>,
}

impl Registry {
    /// Everything that the attributes registered, and `explicit` on top. A test may do without the state
    /// of what it does not run: then it is missed when that is to run.
    pub(crate) fn collect(
        explicit: &[Registration],
        state: &StateMap,
        in_a_test: bool,
    ) -> Result<Self, RegistryError> {
        let mut problems = Vec::new();
        let mut lacking = HashMap::new();
        let mut functions: HashMap<&'static str, &'static FunctionDescriptor> = HashMap::new();
        let mut commands: HashMap<&'static str, &'static CommandDescriptor> = HashMap::new();
        let found = inventory::iter::<Registration>.into_iter().copied();
        for registration in found.chain(explicit.iter().copied()) {
            let clash = match registration {
                Registration::Function(function) => {
                    let mut missing = Vec::new();
                    missing_state(
                        "function",
                        function.name,
                        function.site,
                        function.states,
                        state,
                        &mut missing,
                    );
                    if in_a_test && !missing.is_empty() {
                        lacking.insert(function.name, missing.join("; "));
                    } else {
                        problems.append(&mut missing);
                    }
                    functions
                        .insert(function.name, function)
                        .map(|other| ("functions", function.name, other.site, function.site))
                }
                Registration::Command(command) => {
                    if !in_a_test {
                        missing_state(
                            "command",
                            command.name,
                            command.site,
                            command.states,
                            state,
                            &mut problems,
                        );
                    }
                    commands
                        .insert(command.name, command)
                        .map(|other| ("commands", command.name, other.site, command.site))
                }
            };
            // The same item may be there twice: registered by itself and explicitly.
            if let Some((what, name, one, other)) = clash.filter(|(_, _, one, other)| one != other)
            {
                problems.push(format!(
                    "two {what} are recorded under the name `{name}` ({one} and {other}): give one of \
                     them another with `name = \"…\"`"
                ));
            }
        }
        if !problems.is_empty() {
            problems.sort();
            problems.dedup();
            return Err(RegistryError { problems });
        }
        let mut names: Vec<String> = functions.keys().map(|name| (*name).to_owned()).collect();
        names.sort();
        let mut dependencies: Vec<&'static str> = commands
            .values()
            .filter_map(|command| command.policy.dependency)
            .collect();
        dependencies.sort_unstable();
        dependencies.dedup();
        Ok(Self {
            functions,
            names: names.into(),
            dependencies,
            lacking,
        })
    }

    /// The function of this recorded name.
    pub(crate) fn function(&self, name: &str) -> Option<&'static FunctionDescriptor> {
        self.functions.get(name).copied()
    }

    /// The dependencies that commands name.
    pub(crate) fn dependencies(&self) -> &[&'static str] {
        &self.dependencies
    }

    /// What keeps the function of this name from running, in a test that did not give it its state.
    pub(crate) fn lacking(&self, name: &str) -> Option<&str> {
        self.lacking.get(name).map(String::as_str)
    }

    /// The recorded names of all functions.
    pub(crate) fn function_names(&self) -> Arc<[String]> {
        Arc::clone(&self.names)
    }
}

fn missing_state(
    what: &str,
    name: &str,
    site: Site,
    wanted: &[fn() -> StateKey],
    state: &StateMap,
    problems: &mut Vec<String>,
) {
    for key in wanted
        .iter()
        .map(|key| key())
        .filter(|key| !state.has(*key))
    {
        problems.push(format!(
            "the {what} `{name}` ({site}) asks for `#[state] &{}`, and the builder was given none: add \
             `.state(…)` with a value of that type",
            key.name()
        ));
    }
}
