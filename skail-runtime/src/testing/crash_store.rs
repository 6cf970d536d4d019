//! A store that dies at a chosen commit.
//!
//! Owns the count of commits and the moment of the crash. Must never change what goes through it.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::clock::{BoxFuture, Timestamp};
use crate::history::Event;
use crate::ids::{ExecutionId, Sequence};
use crate::store::{
    Changes, ClaimRequest, Claimed, Commit, Count, Created, Found, Header, Lease, Message,
    MessageId, NewExecution, Page, Query, Search, Sent, Store, StoreError,
};

/// On which side of a write the process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Nothing of it was written.
    Before,
    /// All of it was written, and nobody was told.
    After,
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Before => "before",
            Self::After => "after",
        })
    }
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
/// any commit after it: for the engine above, time ends there. [`crash_everywhere`](super::crash_everywhere)
/// does this for each commit of a function; this is for tests that need one of them.
///
/// ```standalone_crate
/// use skail_runtime::prelude::*;
/// use skail_runtime::store::MemoryStore;
/// use skail_runtime::testing::{CrashPoint, CrashStore, Moment};
///
/// #[skail_command]
/// async fn reserve(order: u32) -> anyhow::Result<u32> {
///     Ok(order)
/// }
///
/// #[skail_function]
/// async fn process(order: u32) -> anyhow::Result<u32> {
///     Ok(reserve(order).await?)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anyhow::Result<()> {
/// let store = MemoryStore::new();
/// // The first commit is the one of the reservation.
/// let point = CrashPoint { commit: 0, moment: Moment::Before };
/// let crashing = CrashStore::new(store.clone(), Some(point));
/// let crashed = crashing.crashed();
/// let skail = Skail::builder().store(crashing).start().await?;
/// skail.start(process(42)).id("order-42").await?;
/// crashed.await;
///
/// drop(skail);
/// let skail = Skail::builder().store(store.crash()).start().await?;
/// assert_eq!(skail.start(process(42)).id("order-42").await?.result().await?, 42);
/// # Ok(())
/// # }
/// ```
pub struct CrashStore<S> {
    below: S,
    at: Option<CrashPoint>,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    commits: AtomicU64,
    dead: Notify,
    /// The events of the commit at which it died.
    last_words: Mutex<Vec<Event>>,
}

impl<S: Store> CrashStore<S> {
    /// Dies at `at`, or never.
    #[must_use]
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

    /// Follows the store once it was given away.
    pub(super) fn watch(&self) -> Watch {
        Watch(Arc::clone(&self.state))
    }
}

/// What became of a store that was given away.
#[derive(Clone)]
pub(super) struct Watch(Arc<State>);

impl Watch {
    /// Resolves when the store has died.
    pub(super) async fn crashed(&self) {
        self.0.dead.notified().await;
    }

    /// The commits so far.
    pub(super) fn commits(&self) -> u64 {
        self.0.commits.load(Ordering::SeqCst)
    }

    /// The events of the commit at which it died.
    pub(super) fn last_words(&self) -> Vec<Event> {
        let words = &self.0.last_words;
        words.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
                        let words = &self.state.last_words;
                        words
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .clone_from(&commit.events);
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
