//! A store behind a codec: what the user's payloads look like on disk is the user's choice.
//!
//! Owns the passage of payloads through the codec, on the way in and out. Must never look into a payload,
//! and never let one past the codec.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::{
    Changes, ClaimRequest, Claimed, Commit, Count, Created, Found, Header, Lease, Message,
    MessageId, NewExecution, Page, Query, Search, Sent, Store, StoreError,
};
use crate::clock::{BoxFuture, Timestamp};
use crate::codec::{Codec, CodecError, Payload};
use crate::history::Event;
use crate::ids::{ExecutionId, Sequence};

/// Hands everything to the store below, with the payloads of events encoded.
pub(crate) struct CodedStore {
    below: Arc<dyn Store>,
    codec: Arc<dyn Codec>,
}

impl CodedStore {
    pub(crate) fn new(below: Arc<dyn Store>, codec: Arc<dyn Codec>) -> Self {
        Self { below, codec }
    }

    fn encode(&self, id: &ExecutionId, event: &mut Event) -> Result<(), StoreError> {
        event.map_payloads(|payload| {
            let encoded = caught(|| self.codec.encode(payload.as_bytes()));
            let stored = encoded.map_err(|error| {
                // Nothing was written, so this is no damage: a key server that is down, for instance.
                StoreError::Unavailable {
                    reason: format!(
                        "the codec cannot encode a payload of execution `{id}`: {error}"
                    ),
                }
            })?;
            Ok(Payload::from_bytes(&stored))
        })
    }

    fn decode(&self, id: &ExecutionId, event: &mut Event) -> Result<(), StoreError> {
        event.map_payloads(|payload| {
            let decoded = caught(|| self.codec.decode(payload.as_bytes()));
            let plain = decoded.map_err(|error| StoreError::Damaged {
                execution: id.clone(),
                what: "a payload".to_owned(),
                reason: format!("the codec cannot decode it: {error}"),
            })?;
            Ok(Payload::from_bytes(&plain))
        })
    }
}

/// A codec is the user's: its panic is an error of one payload and not the end of who asked for it.
fn caught(work: impl FnOnce() -> Result<Vec<u8>, CodecError>) -> Result<Vec<u8>, CodecError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Err(format!("it panicked: {}", text.unwrap_or("without a text")).into())
    })
}

impl fmt::Debug for CodedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodedStore")
            .field("below", &self.below)
            .finish_non_exhaustive()
    }
}

impl Store for CodedStore {
    fn create(&self, mut new: NewExecution) -> BoxFuture<'_, Result<Created, StoreError>> {
        Box::pin(async move {
            self.encode(&new.header.id, &mut new.first)?;
            self.below.create(new).await
        })
    }

    fn header(&self, id: &ExecutionId) -> BoxFuture<'_, Result<Option<Header>, StoreError>> {
        self.below.header(id)
    }

    fn history(
        &self,
        id: &ExecutionId,
        from: Sequence,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        let id = id.clone();
        Box::pin(async move {
            let mut events = self.below.history(&id, from, limit).await?;
            events
                .iter_mut()
                .try_for_each(|event| self.decode(&id, event))?;
            Ok(events)
        })
    }

    fn claim(&self, request: ClaimRequest) -> BoxFuture<'_, Result<Claimed, StoreError>> {
        Box::pin(async move {
            let mut claimed = self.below.claim(request).await?;
            for claim in &mut claimed.claims {
                let id = &claim.lease.execution;
                let history = claim.history.as_deref_mut().unwrap_or_default();
                if history
                    .iter_mut()
                    .try_for_each(|event| self.decode(id, event))
                    .is_err()
                {
                    // Whoever reads it is told; the claim stands.
                    claim.history = None;
                }
            }
            Ok(claimed)
        })
    }

    fn renew(
        &self,
        leases: Vec<Lease>,
        until: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<Lease>, StoreError>> {
        self.below.renew(leases, until)
    }

    fn release(&self, leases: Vec<Lease>) -> BoxFuture<'_, Result<(), StoreError>> {
        self.below.release(leases)
    }

    fn commit(&self, mut commit: Commit) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let id = commit.lease.execution.clone();
            commit
                .events
                .iter_mut()
                .try_for_each(|event| self.encode(&id, event))?;
            self.below.commit(commit).await
        })
    }

    fn send(
        &self,
        id: &ExecutionId,
        message: Message,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Sent, StoreError>> {
        self.below.send(id, message, at)
    }

    fn last_event(&self, id: &ExecutionId) -> BoxFuture<'_, Result<Option<Event>, StoreError>> {
        let id = id.clone();
        Box::pin(async move {
            let mut event = self.below.last_event(&id).await?;
            event
                .iter_mut()
                .try_for_each(|event| self.decode(&id, event))?;
            Ok(event)
        })
    }

    fn inbox(
        &self,
        id: &ExecutionId,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(MessageId, Message)>, StoreError>> {
        self.below.inbox(id, limit)
    }

    fn next_due(&self, after: Timestamp) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        self.below.next_due(after)
    }

    fn list(&self, query: Query) -> BoxFuture<'_, Result<Page, StoreError>> {
        self.below.list(query)
    }

    fn find(&self, search: Search) -> BoxFuture<'_, Result<Found, StoreError>> {
        self.below.find(search)
    }

    fn counts(&self) -> BoxFuture<'_, Result<Vec<Count>, StoreError>> {
        self.below.counts()
    }

    fn delete(&self, ids: Vec<ExecutionId>) -> BoxFuture<'_, Result<usize, StoreError>> {
        self.below.delete(ids)
    }

    fn changes(&self) -> Changes {
        self.below.changes()
    }

    fn close(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.below.close()
    }
}
