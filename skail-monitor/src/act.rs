//! What the Monitor does to executions, and the line that each act leaves.
//!
//! Owns all acts: the API and the page come here. An act is done for a list of executions, one by one, and
//! says for each what came of it.

use serde::de::IgnoredAny;
use skail_runtime::{ExecutionError, Skail};

use crate::server::Peer;

/// The most executions of one request.
pub(crate) const MOST_AT_ONCE: usize = 1_000;

/// The most bytes of a name or a reason.
const MOST_WORDS: usize = 1_000;

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// Lets a failed or blocked execution go on.
    Resume {
        /// Also if a finished step has other arguments now.
        accept_changed_arguments: bool,
    },
    /// Takes an execution at rest out of the store.
    Delete,
}

impl Act {
    /// The word in links and in the audit line.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Resume { .. } => "resume",
            Self::Delete => "delete",
        }
    }

    async fn on(self, skail: &Skail, id: &str) -> Result<(), ExecutionError> {
        let execution = skail.execution::<IgnoredAny>(id).await?;
        match self {
            Self::Resume {
                accept_changed_arguments: true,
            } => execution.resume().accept_changed_arguments().await,
            Self::Resume { .. } => execution.resume().await,
            Self::Delete => execution.delete().await,
        }
    }
}

/// Who wants it, and why: as they say, and where they are.
#[derive(Debug, Clone)]
pub(crate) struct Because {
    pub(crate) by: String,
    pub(crate) reason: String,
    pub(crate) peer: Peer,
}

/// What came of an act for one execution.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) id: String,
    pub(crate) outcome: Result<(), ExecutionError>,
}

/// Does it for each, and leaves a line for each, also where it was refused.
///
/// # Errors
/// A sentence that says what is wrong with the request; nothing was done then.
pub(crate) async fn act(
    skail: &Skail,
    act: Act,
    ids: Vec<String>,
    because: &Because,
) -> Result<Vec<Done>, String> {
    if ids.is_empty() {
        return Err("no execution is named: give at least one id".to_owned());
    }
    if ids.len() > MOST_AT_ONCE {
        return Err(format!(
            "{} executions are named; one request takes at most {MOST_AT_ONCE}",
            ids.len()
        ));
    }
    if because.by.len() > MOST_WORDS || because.reason.len() > MOST_WORDS {
        return Err(format!(
            "a name and a reason have at most {MOST_WORDS} bytes"
        ));
    }
    let mut done = Vec::with_capacity(ids.len());
    for id in ids {
        let outcome = act.on(skail, &id).await;
        audit(act, &id, because, &outcome);
        done.push(Done { id, outcome });
    }
    Ok(done)
}

/// Texts are written as Rust writes them, so that none can pass for a line of its own.
fn audit(act: Act, id: &str, because: &Because, outcome: &Result<(), ExecutionError>) {
    let Because { by, reason, peer } = because;
    let peer = peer.0;
    let action = act.word();
    match outcome {
        Ok(()) => tracing::info!(
            target: "skail_monitor::audit",
            action, execution = ?id, ?by, ?reason, %peer, "done"
        ),
        Err(error) => tracing::warn!(
            target: "skail_monitor::audit",
            action, execution = ?id, ?by, ?reason, %peer, error = ?error.to_string(), "refused"
        ),
    }
}
