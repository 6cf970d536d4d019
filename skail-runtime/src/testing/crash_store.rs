//! A store that dies at a chosen write.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use skail_runtime::clock::{BoxFuture, Timestamp};
use skail_runtime::history::Event;
use skail_runtime::store::{
    Changes, ClaimRequest, Claimed, Commit, Created, Header, Lease, Message, MessageId,
    NewExecution, Page, Query, Sent, Store, StoreError,
};
use skail_runtime::{ExecutionId, Sequence};
use tokio::sync::Notify;

/// On which side of a write the process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Nothing of it was written.
    Before,
    /// All of it was written, and nobody was told.
    After,
}

/// Where the process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrashPoint {
    /// Which commit, from 0.
    pub commit: u64,
    /// On which side of it.
    pub moment: Moment,
}

/// Hands everything to the store below until a chosen commit. That one never returns, and neither does
/// anything after it: for the engine above, time ends there.
pub struct CrashStore<S> {
    below: S,
    at: Option<CrashPoint>,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    commits: AtomicU64,
    dead: Notify,
}

impl<S: Store> CrashStore<S> {
    /// Dies at `at`, or never.
    pub fn new(below: S, at: Option<CrashPoint>) -> Self {
        Self {
            below,
            at,
            state: Arc::default(),
        }
    }

    /// Resolves when the store has died.
    pub fn crashed(&self) -> impl Future<Output = ()> + Send + 'static {
        let state = Arc::clone(&self.state);
        async move { state.dead.notified().await }
    }

    /// Counts the commits so far; can be asked after the store was given away.
    pub fn commits(&self) -> impl Fn() -> u64 + Send + 'static {
        let state = Arc::clone(&self.state);
        move || state.commits.load(Ordering::SeqCst)
    }
}

impl<S: fmt::Debug> fmt::Debug for CrashStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CrashStore")
            .field("below", &self.below)
            .field("at", &self.at)
            .finish()
    }
}

impl<S: Store> Store for CrashStore<S> {
    fn create(&self, new: NewExecution) -> BoxFuture<'_, Result<Created, StoreError>> {
        self.below.create(new)
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
        self.below.history(id, from, limit)
    }

    fn claim(&self, request: ClaimRequest) -> BoxFuture<'_, Result<Claimed, StoreError>> {
        self.below.claim(request)
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

    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<(), StoreError>> {
        let number = self.state.commits.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            match self.at {
                Some(at) if number >= at.commit => {
                    if number == at.commit {
                        if at.moment == Moment::After {
                            self.below.commit(commit).await?;
                        }
                        self.state.dead.notify_one();
                    }
                    std::future::pending().await
                }
                _ => self.below.commit(commit).await,
            }
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
        self.below.last_event(id)
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
