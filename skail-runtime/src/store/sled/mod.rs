//! The default store: a directory, no server, on sled.
//!
//! Owns everything that is particular to sled 0.34.7, which as published loses acknowledged writes on
//! Linux. What makes it durable here:
//!
//! - Its one weak system call is replaced ([`sync`]), and every opening proves that it is ([`recovery`]).
//! - The directory is held by a lock of ours, leftovers of an interrupted opening are removed, and what
//!   is made is synced into its directory ([`place`]).
//! - One thread writes ([`keeper`]): all commits that wait become one group, at most one batch in one
//!   tree, one flush, and only then the answers ([`group`]).
//! - A group is bounded, deletions and large records too: they go through the same groups part by part.
//! - No value is larger than 4 KiB ([`record`]), so that sled never takes to its unsynced files.
//! - The first failed write ends the store for good; sled is not called again, not even to be dropped.
//! - sled's settings are written out ([`recovery`]); the cache is the only one to choose.
//! - The file grows to 4 to 6 times of what it holds and never shrinks. A store that nobody has open can be
//!   rewritten ([`rewrite`]) into a fresh tree, which takes the place of the old one ([`swap`]).
//! - Every record has a checksum and a version. A group's number is not in every group but in a watermark
//!   record, noted in a side file beside the tree when it is durable ([`watermark`]): after at most 64
//!   groups, after 50 ms without work, and at every opening and closing. A tree that has lost more than
//!   that is refused loudly. A note per group would cost a second sync for each.
//! - Tests kill the process in commits and in openings, and cut the power in simulation.
//!
//! Reads go to threads of their own, because sled holds readers up while it applies a batch. They never
//! show what is not durable yet ([`gate`]).
//!
//! Must never let sled's types, errors or key layout out of this module.

mod agenda;
mod books;
mod catalog;
mod claim;
mod due;
mod entering;
mod error;
mod find;
mod gate;
mod group;
mod handle;
mod keeper;
mod kept;
mod keys;
mod leases;
mod options;
mod place;
mod prepared;
mod read;
mod record;
mod recovery;
mod request;
mod rewrite;
mod shared;
mod stamps;
mod swap;
#[cfg(target_os = "linux")]
mod sync;
mod watermark;

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};

pub use self::error::OpenError;
pub use self::options::SledOptions;
use self::prepared::{CommitRecord, MessageRecord, NewRecord};
use self::recovery::Opened;
use self::request::{Reply, Request};
pub use self::rewrite::Rewritten;
use self::shared::Shared;
use self::stamps::Stamps;
use super::{
    Changes, ClaimRequest, Claimed, Commit, Count, Created, Found, Header, Lease, Message,
    MessageId, NewExecution, Page, Query, Search, Sent, Store, StoreError,
};
use crate::clock::{BoxFuture, Timestamp};
use crate::history::Event;
use crate::ids::{ExecutionId, Sequence};

/// The most threads that read at the same time: more would only wait for the same cores and disk.
const READERS: usize = 8;

/// How long a handle that is dropped waits for its thread, so that the directory is free afterwards.
const PARTING: Duration = Duration::from_secs(5);

/// Executions in a directory of this machine, held by one process at a time.
///
/// Acknowledged means on disk: every commit is written and synced before its caller goes on, those that
/// wait at the same time together.
///
/// ```no_run
/// use skail_runtime::store::SledStore;
/// let store = SledStore::open("skail-data")?;
/// # Ok::<(), skail_runtime::store::OpenError>(())
/// ```
///
/// A store that is dropped without [`close`](Store::close) ends as in a crash: nothing is lost, and
/// executions that may have been running are suspects next time.
#[derive(Debug)]
pub struct SledStore {
    path: PathBuf,
    shared: Arc<Shared>,
    readers: Arc<Semaphore>,
    stamps: Arc<Stamps>,
    requests: mpsc::Sender<Request>,
    /// Disconnected when the keeper's thread has ended.
    ended: Mutex<mpsc::Receiver<()>>,
}

impl SledStore {
    /// Opens the store in a directory, making it if it is not there. Blocks while it reads.
    ///
    /// # Errors
    /// [`OpenError`] if the directory is not a store's, is held by another process, cannot be written, or
    /// has lost what was acknowledged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::options().open(path)
    }

    /// What can be chosen about a store.
    pub fn options() -> SledOptions {
        SledOptions::default()
    }

    /// Starts the thread that owns what was opened.
    fn start(path: &Path, opened: Opened) -> Result<Self, OpenError> {
        let shared = Arc::new(Shared::new(
            opened.books.tree.clone(),
            #[cfg(target_os = "linux")]
            Arc::clone(&opened.syncs),
        ));
        let (requests, receiver) = mpsc::channel();
        let (alive, ended) = mpsc::channel();
        let store = Self {
            path: path.to_owned(),
            shared: Arc::clone(&shared),
            readers: Arc::new(Semaphore::new(READERS)),
            stamps: Arc::clone(&opened.books.stamps),
            requests,
            ended: Mutex::new(ended),
        };
        let keeper = thread::Builder::new().name("skail-store".to_owned());
        let started = keeper.spawn(move || {
            keeper::run(opened, shared, receiver);
            drop(alive);
        });
        started.map_err(|error| OpenError::io(path, "given a thread", error))?;
        Ok(store)
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many data syncs sled has asked for and got since this opening. Each makes a whole group of
    /// commits durable.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.shared.syncs.count()
    }

    /// Asks the keeper, when the future is polled.
    fn ask<'a, T: Send + 'a>(
        &'a self,
        request: impl FnOnce(Reply<T>) -> Request + Send + 'a,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            let sent = self.requests.send(request(Reply(reply)));
            sent.map_err(|_| self.shared.ended())?;
            answer.await.unwrap_or_else(|_| Err(self.shared.ended()))
        })
    }

    /// Reads on a thread that may block: what belongs to one execution, or to all.
    fn read<T: Send + 'static>(
        &self,
        whose: Option<&ExecutionId>,
        read: impl FnOnce(&::sled::Tree) -> Result<T, StoreError> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        let shared = Arc::clone(&self.shared);
        let readers = Arc::clone(&self.readers);
        let whose = whose.cloned();
        Box::pin(async move {
            let permit = readers.acquire_owned().await;
            let id = whose.clone();
            let reading = tokio::task::spawn_blocking(move || {
                let answer = shared.read(read, |gate| match &whose {
                    Some(id) => gate.pass(id),
                    None => gate.pass_all(),
                });
                drop(permit);
                answer
            });
            reading.await.unwrap_or_else(|ended| {
                Err(match (ended.try_into_panic(), id) {
                    // sled asserts what it should report of a damaged page.
                    (Ok(panic), Some(execution)) => StoreError::Damaged {
                        execution,
                        what: "a record".to_owned(),
                        reason: keeper::panic_text(&*panic),
                    },
                    (Ok(panic), None) => StoreError::Unavailable {
                        reason: keeper::panic_text(&*panic),
                    },
                    (Err(cancelled), _) => StoreError::Unavailable {
                        reason: format!("the runtime ends: {cancelled}"),
                    },
                })
            })
        })
    }
}

fn unavailable(error: &::sled::Error) -> StoreError {
    StoreError::Unavailable {
        reason: error.to_string(),
    }
}

impl Drop for SledStore {
    fn drop(&mut self) {
        if self.requests.send(Request::End).is_ok() {
            let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
            // It ends by the sender being dropped, or the thread hangs in sled: then the process's end is
            // what frees the directory.
            let _ = ended.recv_timeout(PARTING);
        }
    }
}

impl Store for SledStore {
    fn create(&self, new: NewExecution) -> BoxFuture<'_, Result<Created, StoreError>> {
        self.ask(|reply| {
            let new = NewRecord::prepare(new, self.stamps.next());
            Request::Create(Box::new(new), reply)
        })
    }

    fn header(&self, id: &ExecutionId) -> BoxFuture<'_, Result<Option<Header>, StoreError>> {
        let same = id.clone();
        self.read(Some(id), move |tree| {
            Ok(read::execution(tree, &same)?.map(|execution| execution.header))
        })
    }

    fn history(
        &self,
        id: &ExecutionId,
        from: Sequence,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        let same = id.clone();
        self.read(Some(id), move |tree| {
            read::history(tree, &same, from, limit)
        })
    }

    fn claim(&self, request: ClaimRequest) -> BoxFuture<'_, Result<Claimed, StoreError>> {
        self.ask(|reply| Request::Claim(request, reply))
    }

    fn renew(
        &self,
        leases: Vec<Lease>,
        until: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<Lease>, StoreError>> {
        self.ask(move |reply| Request::Renew(leases, until, reply))
    }

    fn release(&self, leases: Vec<Lease>) -> BoxFuture<'_, Result<(), StoreError>> {
        self.ask(|reply| Request::Release(leases, reply))
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<(), StoreError>> {
        self.ask(|reply| Request::Commit(Box::new(CommitRecord::prepare(commit)), reply))
    }

    fn send(
        &self,
        id: &ExecutionId,
        message: Message,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Sent, StoreError>> {
        let id = id.clone();
        self.ask(move |reply| {
            let mail = MessageRecord::prepare(message, at);
            Request::Send(id, Box::new(mail), reply)
        })
    }

    fn last_event(&self, id: &ExecutionId) -> BoxFuture<'_, Result<Option<Event>, StoreError>> {
        let same = id.clone();
        self.read(Some(id), move |tree| read::last_event(tree, &same))
    }

    fn inbox(
        &self,
        id: &ExecutionId,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(MessageId, Message)>, StoreError>> {
        let same = id.clone();
        self.read(Some(id), move |tree| read::inbox(tree, &same, limit))
    }

    fn next_due(&self, after: Timestamp) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        self.ask(move |reply| Request::NextDue(after, reply))
    }

    fn list(&self, query: Query) -> BoxFuture<'_, Result<Page, StoreError>> {
        self.read(None, move |tree| {
            read::list(tree, &query).map_err(|error| unavailable(&error))
        })
    }

    fn find(&self, search: Search) -> BoxFuture<'_, Result<Found, StoreError>> {
        self.read(None, move |tree| {
            find::find(tree, &search).map_err(|error| unavailable(&error))
        })
    }

    fn counts(&self) -> BoxFuture<'_, Result<Vec<Count>, StoreError>> {
        self.read(None, |tree| {
            catalog::counts(tree).map_err(|error| unavailable(&error))
        })
    }

    fn delete(&self, ids: Vec<ExecutionId>) -> BoxFuture<'_, Result<usize, StoreError>> {
        self.ask(|reply| Request::Delete {
            ids,
            deleted: 0,
            reply,
        })
    }

    fn changes(&self) -> Changes {
        self.shared.announcer.subscribe()
    }

    fn close(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            match self.ask(Request::Close).await {
                // It was closed before.
                Err(StoreError::Closed) => Ok(()),
                result => result,
            }
        })
    }
}
