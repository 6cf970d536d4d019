//! A history outside of its store: as JSON, to be kept beside the code and run against a later build.
//!
//! Owns the form of the whole; events and payloads know theirs.

use serde::{Deserialize, Serialize};

use super::Event;
use crate::ids::ExecutionId;

/// The version of the form that this release writes. A later release reads all earlier ones.
const EXPORT_VERSION: u32 = 1;

/// The whole history of an execution, taken out of its store by
/// [`Execution::export`](crate::Execution::export).
///
/// As JSON it can be kept beside the code and be [replayed](crate::Builder::replay) against every later
/// build of it. Arguments, results and typed errors are in it, as plain values where JSON holds them and
/// else in hexadecimal; a codec's encryption is not. Treat it like the data that it is.
///
/// ```
/// use skail_runtime::history::ExportedHistory;
/// # use skail_runtime::prelude::*;
///
/// async fn keep(skail: &Skail, id: &str) -> anyhow::Result<String> {
///     let history = skail.execution::<()>(id).await?.export().await?;
///     Ok(history.to_json())
/// }
///
/// let kept = r#"{
///     "skail_history": 1,
///     "execution": "order-42",
///     "events": [
///         {"Started": {"at": 1767225600000, "function": "process", "arguments": {"value": [42]}}}
///     ]
/// }"#;
/// let history = ExportedHistory::from_json(kept)?;
/// assert_eq!(history.events().len(), 1);
/// # Ok::<(), skail_runtime::history::ImportError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedHistory {
    skail_history: u32,
    execution: ExecutionId,
    events: Vec<Event>,
}

/// What every version of the form begins with.
#[derive(Deserialize)]
struct Head {
    skail_history: u32,
}

impl ExportedHistory {
    pub(crate) fn new(execution: ExecutionId, events: Vec<Event>) -> Self {
        Self {
            skail_history: EXPORT_VERSION,
            execution,
            events,
        }
    }

    /// Which execution's it is.
    #[must_use]
    pub fn execution(&self) -> &ExecutionId {
        &self.execution
    }

    /// What happened, oldest first.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// As JSON, over several lines.
    ///
    /// # Panics
    /// Never: nothing in a history has a form that JSON lacks.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("events are text, numbers and payloads")
    }

    /// From JSON that some release wrote.
    ///
    /// # Errors
    /// [`ImportError`] if it is no history, or one of a newer release.
    pub fn from_json(json: &str) -> Result<Self, ImportError> {
        let unreadable = |error: serde_json::Error| ImportError::Unreadable {
            reason: error.to_string(),
        };
        let head: Head = serde_json::from_str(json).map_err(unreadable)?;
        if head.skail_history != EXPORT_VERSION {
            return Err(ImportError::Version {
                found: head.skail_history,
            });
        }
        serde_json::from_str(json).map_err(unreadable)
    }
}

/// Why a text is no history.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// It is no JSON, or that of something else.
    #[error("this is no exported history: {reason}")]
    Unreadable {
        /// What was wrong, and where.
        reason: String,
    },
    /// A newer release wrote it.
    #[error(
        "the exported history has version {found}, and this release reads versions up to {EXPORT_VERSION}: use the release that wrote it"
    )]
    Version {
        /// The version found.
        found: u32,
    },
}
