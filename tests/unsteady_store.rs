//! A store that cannot be reached while a test says so.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex};

use skail_runtime::clock::{BoxFuture, Timestamp};
use skail_runtime::history::Event;
use skail_runtime::store::{
    Changes, ClaimRequest, Claimed, Commit, Count, Created, Found, Header, Lease, Message,
    MessageId, NewExecution, Page, Query, Search, Sent, Store, StoreError,
};
use skail_runtime::{ExecutionId, Sequence};

/// What can be cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    /// Looking for work: claims and due times.
    Claim,
    /// Reading headers, histories, inboxes, lists.
    Read,
    /// Writing events.
    Commit,
    /// Extending leases.
    Renew,
    /// Giving leases back.
    Release,
    /// The answer to a commit, once it was written.
    Answer,
    /// Closing the store.
    Close,
    /// Looking for work meets a defect of the store.
    Defect,
}

/// Which lines are cut now, and how often that was noticed; a clone is the same.
#[derive(Debug, Clone, Default)]
pub struct Cuts(Arc<Mutex<(BTreeSet<Line>, u32)>>);

impl Cuts {
    /// Cuts these lines, and no others.
    pub fn set(&self, lines: &[Line]) {
        let mut state = self.0.lock().expect("no panic while it is held");
        *state = (lines.iter().copied().collect(), 0);
    }

    /// How many calls have failed since the last [`set`](Self::set).
    #[must_use]
    pub fn noticed(&self) -> u32 {
        self.0.lock().expect("no panic while it is held").1
    }

    fn check(&self, line: Line) -> Result<(), StoreError> {
        let mut state = self.0.lock().expect("no panic while it is held");
        if !state.0.contains(&line) {
            return Ok(());
        }
        state.1 += 1;
        let reason = format!("the test cut {line:?}");
        Err(StoreError::Unavailable { reason })
    }
}

/// Hands everything to the store below, except where a line is cut.
#[derive(Debug)]
pub struct UnsteadyStore<S> {
    below: Arc<S>,
    cuts: Cuts,
    shared: bool,
}

impl<S: Store> UnsteadyStore<S> {
    /// A store whose lines are cut as `cuts` says.
    pub fn new(below: S, cuts: &Cuts) -> Self {
        Self {
            below: Arc::new(below),
            cuts: cuts.clone(),
            shared: false,
        }
    }

    /// The same for a store that others use too: who closes it closes it for itself.
    pub fn shared(below: S, cuts: &Cuts) -> Self {
        Self {
            shared: true,
            ..Self::new(below, cuts)
        }
    }

    fn over<'a, T: Send + 'a>(
        &'a self,
        line: Line,
        call: impl FnOnce(&'a S) -> BoxFuture<'a, Result<T, StoreError>> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        Box::pin(async move {
            self.cuts.check(line)?;
            call(&self.below).await
        })
    }
}

impl<S: Store + fmt::Debug> Store for UnsteadyStore<S> {
    fn create(&self, new: NewExecution) -> BoxFuture<'_, Result<Created, StoreError>> {
        self.over(Line::Commit, move |below| below.create(new))
    }

    fn header(&self, id: &ExecutionId) -> BoxFuture<'_, Result<Option<Header>, StoreError>> {
        let id = id.clone();
        Box::pin(async move {
            self.cuts.check(Line::Read)?;
            self.below.header(&id).await
        })
    }

    fn history(
        &self,
        id: &ExecutionId,
        from: Sequence,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        let id = id.clone();
        Box::pin(async move {
            self.cuts.check(Line::Read)?;
            self.below.history(&id, from, limit).await
        })
    }

    fn claim(&self, request: ClaimRequest) -> BoxFuture<'_, Result<Claimed, StoreError>> {
        Box::pin(async move {
            let whole = self.cuts.check(Line::Defect);
            whole.expect("the store has no defect");
            self.cuts.check(Line::Claim)?;
            let mut claimed = self.below.claim(request).await?;
            // Histories come over the line for reading only.
            for claim in &mut claimed.claims {
                claim.history = None;
            }
            Ok(claimed)
        })
    }

    fn renew(
        &self,
        leases: Vec<Lease>,
        until: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<Lease>, StoreError>> {
        self.over(Line::Renew, move |below| below.renew(leases, until))
    }

    fn release(&self, leases: Vec<Lease>) -> BoxFuture<'_, Result<(), StoreError>> {
        self.over(Line::Release, move |below| below.release(leases))
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.cuts.check(Line::Commit)?;
            self.below.commit(commit).await?;
            self.cuts.check(Line::Answer)
        })
    }

    fn send(
        &self,
        id: &ExecutionId,
        message: Message,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Sent, StoreError>> {
        let id = id.clone();
        Box::pin(async move {
            self.cuts.check(Line::Commit)?;
            self.below.send(&id, message, at).await
        })
    }

    fn last_event(&self, id: &ExecutionId) -> BoxFuture<'_, Result<Option<Event>, StoreError>> {
        let id = id.clone();
        Box::pin(async move {
            self.cuts.check(Line::Read)?;
            self.below.last_event(&id).await
        })
    }

    fn inbox(
        &self,
        id: &ExecutionId,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(MessageId, Message)>, StoreError>> {
        let id = id.clone();
        Box::pin(async move {
            self.cuts.check(Line::Read)?;
            self.below.inbox(&id, limit).await
        })
    }

    fn next_due(&self, after: Timestamp) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        self.over(Line::Claim, move |below| below.next_due(after))
    }

    fn list(&self, query: Query) -> BoxFuture<'_, Result<Page, StoreError>> {
        self.over(Line::Read, move |below| below.list(query))
    }

    fn find(&self, search: Search) -> BoxFuture<'_, Result<Found, StoreError>> {
        self.over(Line::Read, move |below| below.find(search))
    }

    fn counts(&self) -> BoxFuture<'_, Result<Vec<Count>, StoreError>> {
        self.over(Line::Read, move |below| below.counts())
    }

    fn delete(&self, ids: Vec<ExecutionId>) -> BoxFuture<'_, Result<usize, StoreError>> {
        self.over(Line::Commit, move |below| below.delete(ids))
    }

    fn changes(&self) -> Changes {
        self.below.changes()
    }

    fn close(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        if self.shared {
            return Box::pin(async { self.cuts.check(Line::Close) });
        }
        self.over(Line::Close, |below| below.close())
    }
}
