//! The one hand that writes an execution's history: each call is one durable, fenced commit.
//!
//! Owns the lease and the place of the next event. Must never retry a user's code or swallow a store's
//! refusal.

use std::sync::Arc;

use super::reach::reach;
use super::shared::Shared;
use crate::history::{Event, Status};
use crate::ids::Sequence;
use crate::store::{Commit, HeaderChange, Lease, MessageId, StoreError};

/// Why a driver stops before its execution is at rest. Control flow, not a failure of the execution.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The lease is lost, or was given back: somebody goes on, here or elsewhere.
    LetGo,
    /// This execution cannot be worked on; the others can.
    Broken(StoreError),
    /// The store takes no more work.
    Gone(StoreError),
}

/// Sorts a store's error by what the driver does about it.
impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Fenced { .. } => Self::LetGo,
            StoreError::Damaged { .. } | StoreError::Contradiction { .. } => Self::Broken(error),
            StoreError::Stopped { .. } | StoreError::Closed | StoreError::Unavailable { .. } => {
                Self::Gone(error)
            }
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Recorder {
    shared: Arc<Shared>,
    lease: Lease,
    next: Sequence,
    consumed: Vec<MessageId>,
}

/// What goes into a commit beside its events.
#[derive(Debug, Default)]
pub(crate) struct Along {
    pub(crate) header: Option<HeaderChange>,
    pub(crate) release: bool,
}

impl Recorder {
    pub(crate) fn new(shared: Arc<Shared>, lease: Lease, next: Sequence) -> Self {
        Self {
            shared,
            lease,
            next,
            consumed: Vec::new(),
        }
    }

    /// The lease under which this writes.
    pub(crate) fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Messages to take out of the inbox with the next commit.
    pub(crate) fn consume(&mut self, messages: impl IntoIterator<Item = MessageId>) {
        self.consumed.extend(messages);
    }

    /// Appends events, durably.
    pub(crate) async fn events(&mut self, events: Vec<Event>) -> Result<(), Stop> {
        self.commit(events, Along::default()).await
    }

    /// Appends an event that changes the status and brings the execution to rest, or to a wait.
    pub(crate) async fn rest(
        &mut self,
        events: Vec<Event>,
        header: HeaderChange,
    ) -> Result<(), Stop> {
        if matches!(header.status, Status::Failed | Status::Blocked) {
            self.discard_early_resumes(header.status).await?;
        }
        self.commit(
            events,
            Along {
                header: Some(header),
                release: true,
            },
        )
        .await
    }

    /// A resume that is in the inbox before the execution has come to rest was meant for an earlier rest:
    /// it came second, or too late. It must not resume what nobody has seen fail.
    async fn discard_early_resumes(&mut self, rest: Status) -> Result<(), Stop> {
        let inbox = || self.shared.store.inbox(&self.lease.execution, 512);
        let messages = reach(&self.shared, inbox).await?;
        let early = messages.iter().filter(|(_, message)| message.wakes(rest));
        self.consumed.extend(early.map(|(message, _)| *message));
        Ok(())
    }

    /// Gives the lease back with nothing recorded.
    pub(crate) async fn release(&mut self) -> Result<(), Stop> {
        let release = || self.shared.store.release(vec![self.lease.clone()]);
        Ok(reach(&self.shared, release).await?)
    }

    /// One commit.
    pub(crate) async fn commit(&mut self, events: Vec<Event>, along: Along) -> Result<(), Stop> {
        let count = events.len() as u64;
        let commit = Commit {
            lease: self.lease.clone(),
            first: self.next,
            events,
            consumed: std::mem::take(&mut self.consumed),
            header: along.header,
            release: along.release,
        };
        let mut tries = 0;
        let committed = reach(&self.shared, || {
            tries += 1;
            self.shared.store.commit(commit.clone())
        })
        .await;
        match committed {
            // The answer to an earlier try was lost, and what it said: nobody else has this lease.
            Err(StoreError::Contradiction { .. })
                if tries > 1 && self.is_there(&commit).await? => {}
            committed => committed?,
        }
        self.next = Sequence(self.next.0 + count);
        Ok(())
    }

    /// Whether the history ends with just the events of this commit.
    async fn is_there(&self, commit: &Commit) -> Result<bool, Stop> {
        let most = commit.events.len() + 1;
        let read = || {
            let id = &commit.lease.execution;
            self.shared.store.history(id, commit.first, most)
        };
        Ok(reach(&self.shared, read).await? == commit.events)
    }
}

/// The header of an execution that goes on running, due at once.
pub(crate) fn running(at: crate::clock::Timestamp) -> HeaderChange {
    HeaderChange {
        at,
        status: Status::Running,
        due: Some(at),
        problem: None,
    }
}
