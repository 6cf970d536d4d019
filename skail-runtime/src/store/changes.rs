//! News of a store, for those who wait.

use tokio::sync::broadcast;

use crate::history::Status;
use crate::ids::ExecutionId;

/// One piece of news.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Something may be claimable now, or earlier than [`next_due`](super::Store::next_due) said.
    Claimable,
    /// A message came for this execution.
    Mail(ExecutionId),
    /// This execution came to rest.
    AtRest(ExecutionId, Status),
    /// News was missed: anything may have changed.
    Missed,
}

/// A receiver of news.
#[derive(Debug)]
pub struct Changes(broadcast::Receiver<Change>);

impl Changes {
    /// No news, ever.
    pub(crate) fn none() -> Self {
        Self(broadcast::Sender::new(1).subscribe())
    }

    /// The next piece of news; `None` when the store is gone.
    pub async fn next(&mut self) -> Option<Change> {
        match self.0.recv().await {
            Ok(change) => Some(change),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(Change::Missed),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// The sending side, for stores.
#[derive(Debug, Clone)]
pub(crate) struct Announcer(broadcast::Sender<Change>);

impl Announcer {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(4_096))
    }

    /// Tells everybody who listens; nobody need.
    pub(crate) fn tell(&self, change: Change) {
        let _ = self.0.send(change);
    }

    pub(crate) fn subscribe(&self) -> Changes {
        Changes(self.0.subscribe())
    }
}
