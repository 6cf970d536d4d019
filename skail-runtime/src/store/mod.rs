//! Where executions are kept: the contract between the engine and a store.
//!
//! Owns the [`Store`] trait, its plain data ([`model`]) and the stores of this crate. Only a store knows
//! keys or SQL. A store must never run anything, decide what is tried again, or read a clock: time is
//! passed in.

mod changes;
mod coded;
#[cfg(feature = "testing")]
pub mod conformance;
mod error;
mod memory;
pub mod model;
mod search;
#[cfg(feature = "sled")]
mod sled;

use std::fmt;

use crate::clock::{BoxFuture, Timestamp};
use crate::history::Event;
use crate::ids::{ExecutionId, Sequence};

pub use changes::{Change, Changes};
pub(crate) use coded::CodedStore;
pub use error::StoreError;
pub use memory::MemoryStore;
pub use model::{
    Claim, ClaimRequest, Claimed, Commit, Created, Header, HeaderChange, Lease, Message, MessageId,
    NewExecution, Page, Query, Sent,
};
pub use search::{Count, Found, InvalidPlace, Place, Search};
#[cfg(feature = "sled")]
pub use sled::{OpenError, Rewritten, SledOptions, SledStore};

/// When a write counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Durability {
    /// On disk past a power cut: written and synced.
    #[default]
    Disk,
    /// Survives the death of the process, not of the machine: for tests and work that can be repeated.
    Process,
}

/// What the engine needs of a store, no more.
///
/// **Durable when it returns.** `create`, `commit` and `send` return only when what they wrote survives
/// what the store's [`Durability`] promises. Each is atomic: after a crash all of it is there, or nothing.
/// A call whose future was dropped has either happened whole or not at all.
///
/// **Fencing.** `commit`, `renew` and `release` name a [`Lease`]. A store refuses a lease that is not the
/// execution's current one with [`StoreError::Fenced`]: its owner was too late, and another one works on
/// the execution now. A lease that is past its end stays the current one until `claim` voids it.
///
/// **Due time.** An execution is due from [`Header::due`] on, and from the time of the oldest message in
/// its inbox that [wakes](Message::wakes) it in its status, whichever is earlier; the store keeps that
/// in the header. A lease hides it from `claim` and changes nothing of it.
///
/// **Damage.** A record that cannot be read is [`StoreError::Damaged`] with the execution's id; it stops
/// neither the store nor other executions.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Creates an execution with its [`Event::Started`], claimable from `due` on. If the id is taken,
    /// nothing is written and the header that stands there is returned, whatever its function is.
    fn create(&self, new: NewExecution) -> BoxFuture<'_, Result<Created, StoreError>>;

    /// The header of an execution, if there is one.
    fn header(&self, id: &ExecutionId) -> BoxFuture<'_, Result<Option<Header>, StoreError>>;

    /// At most `limit` events from `from` on, in order. Empty at the end, and for an unknown id.
    fn history(
        &self,
        id: &ExecutionId,
        from: Sequence,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>>;

    /// Voids the leases that ended, then leases at most `limit` executions that are due, not leased, and
    /// of one of the named functions; the longest due first. Each lease has a higher epoch than any
    /// before on that execution. Fewer than `limit` means that nothing else is claimable now.
    fn claim(&self, request: ClaimRequest) -> BoxFuture<'_, Result<Claimed, StoreError>>;

    /// Extends leases until `until` and returns those that are lost. A lease that is past its end but
    /// that nobody else claimed can still be extended.
    fn renew(
        &self,
        leases: Vec<Lease>,
        until: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<Lease>, StoreError>>;

    /// Gives leases back: their executions are claimable from their due times on, which means at once
    /// unless a commit moved them, and they are not suspect. Lost leases are ignored.
    fn release(&self, leases: Vec<Lease>) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Appends events, changes the header, takes messages out of the inbox and gives up the lease, as
    /// the [`Commit`] says, all at once. A commit whose `first` is not the length of the history is
    /// refused with [`StoreError::Contradiction`].
    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Puts a message, sent at `at`, into an execution's inbox. If the message [wakes](Message::wakes)
    /// the execution in its status, the execution is due at `at`; while it is leased, that takes effect
    /// when the lease ends with the message still there.
    fn send(
        &self,
        id: &ExecutionId,
        message: Message,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Sent, StoreError>>;

    /// The last event of the history: of an execution at rest, the one that brought it there.
    fn last_event(&self, id: &ExecutionId) -> BoxFuture<'_, Result<Option<Event>, StoreError>>;

    /// At most `limit` messages that are in the inbox, oldest first.
    fn inbox(
        &self,
        id: &ExecutionId,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(MessageId, Message)>, StoreError>>;

    /// The first point later than `after` at which something may become claimable that was not at
    /// `after`, whatever its function is: an execution becomes due, or a lease ends unless it is renewed.
    /// What was due before is passed over: a claim that gave fewer than its limit has spoken of it. The
    /// point may be too early, when something has moved since, but never too late.
    fn next_due(&self, after: Timestamp) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>>;

    /// One page of headers in the order of their ids. A page may hold fewer than the limit, even none,
    /// with more behind it: what a call reads is bounded. Only [`Page::next`] tells the end.
    fn list(&self, query: Query) -> BoxFuture<'_, Result<Page, StoreError>>;

    /// One page of the executions that a search finds, newest first. What a call reads is bounded by the
    /// page, whatever the store holds, where status, function, prefix, time and tag decide; words are looked
    /// for in a bounded number of those, so that a page may hold fewer than the limit, even none, with more
    /// behind it. Only [`Found::next`] tells the end.
    fn find(&self, search: Search) -> BoxFuture<'_, Result<Found, StoreError>>;

    /// How many executions there are, by function and status, without reading them: those that cannot be
    /// read may be counted.
    fn counts(&self) -> BoxFuture<'_, Result<Vec<Count>, StoreError>>;

    /// Deletes executions that are [at rest](crate::history::Status::at_rest), or cannot be read, with
    /// their histories and inboxes; others are left, and so are those that are leased, or due because of
    /// a message: a resume that was acknowledged is not lost. Returns how many were deleted.
    fn delete(&self, ids: Vec<ExecutionId>) -> BoxFuture<'_, Result<usize, StoreError>>;

    /// News of what changed, by this process or, where the store can know, by others.
    fn changes(&self) -> Changes;

    /// Says that everything stops in an orderly way: leases end, those that had ended before too, and
    /// executions that were running are not suspects next time; suspects that were not claimed since the
    /// unclean stop stay suspects. The store refuses further work; closing it again does nothing.
    fn close(&self) -> BoxFuture<'_, Result<(), StoreError>>;
}

/// The whole history of an execution, read page by page.
pub(crate) async fn whole_history(
    store: &dyn Store,
    id: &ExecutionId,
) -> Result<Vec<Event>, StoreError> {
    const PAGE: usize = 512;
    let mut all = Vec::new();
    loop {
        let page = store.history(id, Sequence(all.len() as u64), PAGE).await?;
        let whole = page.len() < PAGE;
        all.extend(page);
        if whole {
            return Ok(all);
        }
    }
}
