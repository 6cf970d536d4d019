//! What the code asks for and the history holds, when the two differ.

use std::fmt;

use super::{BlockReason, Step, StepKind};
use crate::codec::Digest;
use crate::ids::Position;

/// How much of the arguments a message shows, in characters.
const SHOWN: usize = 200;

/// The code and the history disagree about a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Divergence {
    /// Another step, or other arguments, than the one recorded at this position.
    Differs {
        /// What the history holds.
        recorded: Box<Step>,
        /// What the code asked for.
        asked: Box<Step>,
    },
    /// The history holds a step that the code has not asked for when its result was due.
    NotAsked {
        /// What the history holds.
        recorded: Box<Step>,
        /// How many steps the code has asked for so far.
        asked: u32,
    },
    /// The recorded result cannot be read as the type that the code wants.
    Unreadable {
        /// The step.
        position: Position,
        /// What kind it is.
        kind: StepKind,
        /// Its recorded name.
        name: String,
        /// What was wrong.
        reason: String,
    },
}

impl Divergence {
    /// The position at which they disagree.
    #[must_use]
    pub fn position(&self) -> Position {
        match self {
            Self::Differs { recorded, .. } | Self::NotAsked { recorded, .. } => recorded.position,
            Self::Unreadable { position, .. } => *position,
        }
    }

    /// The digest that the code asked for, if nothing but the arguments differs.
    #[must_use]
    pub fn changed_arguments(&self) -> Option<Digest> {
        match self {
            Self::Differs { recorded, asked }
                if recorded.kind == asked.kind && recorded.name == asked.name =>
            {
                Some(asked.digest)
            }
            Self::Differs { .. } | Self::NotAsked { .. } | Self::Unreadable { .. } => None,
        }
    }

    fn differs_in_order_only(&self) -> bool {
        match self {
            Self::Differs { recorded, asked } => {
                self.changed_arguments().is_some()
                    && recorded.arguments.same_but_for_order(&asked.arguments)
            }
            Self::NotAsked { .. } | Self::Unreadable { .. } => false,
        }
    }

    /// The reason that is recorded when an execution of `function` is blocked by this.
    #[must_use]
    pub fn block(&self, function: &str) -> BlockReason {
        let way_out = if self.differs_in_order_only() {
            "They differ in nothing but their order: a `HashSet`, or a list made from a `HashMap`, has \
             another one in every process. Deploy code that passes them in one order (from a \
             `BTreeSet`, or sorted), then resume with `.resume().accept_changed_arguments()`."
        } else if self.changed_arguments().is_some() {
            "Either put back the code that passed the recorded arguments and resume, or, if the step's \
             recorded result still holds for the new ones, resume with \
             `.resume().accept_changed_arguments()`."
        } else if matches!(self, Self::Unreadable { .. }) {
            "Deploy code whose type reads the recorded value (a new field needs `#[serde(default)]`), \
             then resume."
        } else {
            "Deploy code that asks for the recorded steps in the recorded order (put the old code back, \
             put the change behind `if patched(\"…\").await?`, or give the changed function a new `name` \
             so that running executions keep the old one), then resume."
        };
        BlockReason {
            message: format!(
                "the code of `{function}` and the history disagree: {self}. {way_out}"
            ),
            position: Some(self.position()),
            changed_arguments: self.changed_arguments(),
        }
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |step: &Step| match step.kind {
            StepKind::Command => {
                let arguments = step.arguments.preview(SHOWN);
                format!("{} `{}` with arguments {arguments}", step.kind, step.name)
            }
            StepKind::Now
            | StepKind::Random
            | StepKind::Uuid
            | StepKind::Record
            | StepKind::Timer => format!("{} `{}`", step.kind, step.name),
        };
        match self {
            Self::Differs { recorded, asked } => write!(
                f,
                "at position {} the history holds {}, and the code asked for {}",
                recorded.position,
                shown(recorded),
                shown(asked)
            ),
            Self::NotAsked { recorded, asked } => write!(
                f,
                "at position {} the history holds {}, and the code asked for {asked} steps only",
                recorded.position,
                shown(recorded),
            ),
            Self::Unreadable {
                position,
                kind,
                name,
                reason,
            } => write!(
                f,
                "at position {position} the recorded result of {kind} `{name}`: {reason}"
            ),
        }
    }
}
