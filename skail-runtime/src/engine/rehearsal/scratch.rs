//! What a rehearsal writes to: a pad that is thrown away.
//!
//! Owns the events that the driver of one rehearsal recorded. It is asked for nothing that is in a store:
//! the driver is given the history.

use std::sync::{Mutex, PoisonError};

use crate::clock::{BoxFuture, Timestamp};
use crate::history::Event;
use crate::ids::{ExecutionId, Sequence};
use crate::store::{
    Changes, ClaimRequest, Claimed, Commit, Count, Created, Found, Header, Lease, Message,
    MessageId, NewExecution, Page, Query, Search, Sent, Store, StoreError,
};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Scratch(Mutex<Vec<Event>>);

impl Scratch {
    /// What was written since the last call.
    pub(super) fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The answer to what no driver asks.
fn nothing<T: Send + 'static>() -> BoxFuture<'static, Result<T, StoreError>> {
    Box::pin(std::future::ready(Err(StoreError::Closed)))
}

fn done<T: Send + 'static>(value: T) -> BoxFuture<'static, Result<T, StoreError>> {
    Box::pin(std::future::ready(Ok(value)))
}

impl Store for Scratch {
    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<(), StoreError>> {
        let mut events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        events.extend(commit.events);
        done(())
    }

    fn release(&self, _: Vec<Lease>) -> BoxFuture<'_, Result<(), StoreError>> {
        done(())
    }

    fn inbox(
        &self,
        _: &ExecutionId,
        _: usize,
    ) -> BoxFuture<'_, Result<Vec<(MessageId, Message)>, StoreError>> {
        done(Vec::new())
    }

    fn create(&self, _: NewExecution) -> BoxFuture<'_, Result<Created, StoreError>> {
        nothing()
    }

    fn header(&self, _: &ExecutionId) -> BoxFuture<'_, Result<Option<Header>, StoreError>> {
        nothing()
    }

    fn history(
        &self,
        _: &ExecutionId,
        _: Sequence,
        _: usize,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        nothing()
    }

    fn claim(&self, _: ClaimRequest) -> BoxFuture<'_, Result<Claimed, StoreError>> {
        nothing()
    }

    fn renew(&self, _: Vec<Lease>, _: Timestamp) -> BoxFuture<'_, Result<Vec<Lease>, StoreError>> {
        nothing()
    }

    fn send(
        &self,
        _: &ExecutionId,
        _: Message,
        _: Timestamp,
    ) -> BoxFuture<'_, Result<Sent, StoreError>> {
        nothing()
    }

    fn last_event(&self, _: &ExecutionId) -> BoxFuture<'_, Result<Option<Event>, StoreError>> {
        nothing()
    }

    fn next_due(&self, _: Timestamp) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        nothing()
    }

    fn list(&self, _: Query) -> BoxFuture<'_, Result<Page, StoreError>> {
        nothing()
    }

    fn find(&self, _: Search) -> BoxFuture<'_, Result<Found, StoreError>> {
        nothing()
    }

    fn counts(&self) -> BoxFuture<'_, Result<Vec<Count>, StoreError>> {
        nothing()
    }

    fn delete(&self, _: Vec<ExecutionId>) -> BoxFuture<'_, Result<usize, StoreError>> {
        nothing()
    }

    fn changes(&self) -> Changes {
        Changes::none()
    }

    fn close(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        done(())
    }
}
