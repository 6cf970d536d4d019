//! What follows from the facts: one pure function from a status and an event to the next status.

use serde::{Deserialize, Serialize};

use super::Event;

/// Where an execution stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Status {
    /// It is worked on, or waits for its turn or a due time.
    Running,
    /// It cannot go on with this code: its history and the function disagree.
    Blocked,
    /// It has its result.
    Completed,
    /// Its attempts are spent; an operator can resume it.
    Failed,
}

impl Status {
    /// Whether nothing more happens without an operator.
    #[must_use]
    pub const fn at_rest(self) -> bool {
        !matches!(self, Self::Running)
    }

    /// Whether nothing more can ever happen.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed)
    }

    /// The status after `event`.
    ///
    /// # Errors
    /// [`StatusRefusal`] if the event cannot follow: a history that holds it is damaged.
    pub fn after(before: Option<Self>, event: &Event) -> Result<Self, StatusRefusal> {
        let refused = || StatusRefusal {
            before,
            event: event_name(event),
        };
        match (before, event) {
            (None, Event::Started { .. }) => Ok(Self::Running),
            (
                Some(Self::Running),
                Event::CommandStarted { .. }
                | Event::CommandAttemptFailed { .. }
                | Event::CommandCompleted { .. }
                | Event::CommandFailed { .. }
                | Event::ValueRecorded { .. }
                | Event::TimerSet { .. }
                | Event::TimerFired { .. }
                | Event::StepFailed { .. }
                | Event::Patched { .. }
                | Event::FunctionAttemptFailed {
                    retry_at: Some(_), ..
                },
            )
            | (Some(Self::Failed | Self::Blocked), Event::Resumed { .. }) => Ok(Self::Running),
            (Some(Self::Running), Event::FunctionAttemptFailed { retry_at: None, .. }) => {
                Ok(Self::Failed)
            }
            (Some(Self::Running), Event::Blocked { .. }) => Ok(Self::Blocked),
            (Some(Self::Running), Event::Completed { .. }) => Ok(Self::Completed),
            _ => Err(refused()),
        }
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Running => "running",
            Self::Blocked => "blocked",
            Self::Completed => "completed",
            Self::Failed => "failed",
        })
    }
}

fn event_name(event: &Event) -> &'static str {
    match event {
        Event::Started { .. } => "Started",
        Event::CommandStarted { .. } => "CommandStarted",
        Event::CommandAttemptFailed { .. } => "CommandAttemptFailed",
        Event::CommandCompleted { .. } => "CommandCompleted",
        Event::CommandFailed { .. } => "CommandFailed",
        Event::ValueRecorded { .. } => "ValueRecorded",
        Event::TimerSet { .. } => "TimerSet",
        Event::TimerFired { .. } => "TimerFired",
        Event::StepFailed { .. } => "StepFailed",
        Event::Patched { .. } => "Patched",
        Event::FunctionAttemptFailed { .. } => "FunctionAttemptFailed",
        Event::Blocked { .. } => "Blocked",
        Event::Resumed { .. } => "Resumed",
        Event::Completed { .. } => "Completed",
    }
}

/// An event that cannot follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the event {event} cannot follow on {}", .before.map_or("nothing".to_owned(), |status| format!("the status `{status}`")))]
pub struct StatusRefusal {
    before: Option<Status>,
    event: &'static str,
}
