//! The thread that owns the store: it takes what waits, groups it, makes it durable once, and answers.
//!
//! Owns the tree's writing side, the leases and the agenda; every change goes through here one after the
//! other. Must never go on after a failed write: the store stops for good, and sled is not called again,
//! not even to be taken down, because it was seen to hang then.

use std::any::Any;
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use super::entering::Entering;
use super::group::{self, Group};
use super::handle::Handle;
use super::keys::{self, Stamp};
use super::place::Place;
use super::record::Opening;
use super::recovery::{self, Opened, small};
use super::request::{Reply, Request};
use super::shared::Shared;
use super::watermark::{Noted, SideFile};

/// How many groups may go by before the side file is told.
const GROUPS_PER_MARK: u32 = 64;

/// How long the store waits for more work before it tells the side file how far it is.
const IDLE: Duration = Duration::from_millis(50);

pub(super) struct Keeper {
    entering: Entering,
    shared: Arc<Shared>,
    requests: Receiver<Request>,
    /// Requests that were taken and wait for their turn.
    waiting: VecDeque<Request>,
    side: SideFile,
    opening: Opening,
    groups_since_mark: u32,
    /// Told when the store is closed and the directory is free.
    closers: Vec<Reply<()>>,
    // Dropped by hand: after a failed write they must not be, and sled before the lock.
    db: ManuallyDrop<Handle>,
    place: ManuallyDrop<Place>,
}

/// Why the rounds ended.
enum End {
    /// All handles are gone, or the store was closed.
    Orderly,
    /// A write failed.
    Failed(String),
}

/// Runs until the store is closed, dropped or broken.
pub(super) fn run(opened: Opened, shared: Arc<Shared>, requests: Receiver<Request>) {
    let mut keeper = Keeper {
        entering: Entering::new(opened.books),
        shared,
        requests,
        waiting: VecDeque::new(),
        side: opened.side,
        opening: opened.opening,
        groups_since_mark: 0,
        closers: Vec::new(),
        db: ManuallyDrop::new(opened.db),
        place: ManuallyDrop::new(opened.place),
    };
    let end = catch_unwind(AssertUnwindSafe(|| keeper.rounds()));
    match end.unwrap_or_else(|panic| End::Failed(panic_text(&*panic))) {
        End::Orderly => keeper.take_down(),
        End::Failed(cause) => {
            tracing::error!(cause, "the store stopped after a failed write");
            keeper.shared.stop(&cause);
            // Whoever waits is told as the keeper is dropped; sled and the lock stay as they are until
            // the process ends.
        }
    }
}

/// What a panic said.
pub(super) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.map_or_else(
        || "sled panicked".to_owned(),
        |text| format!("sled panicked: {text}"),
    )
}

impl Keeper {
    fn rounds(&mut self) -> End {
        loop {
            match self.round() {
                Ok(true) => {}
                Ok(false) => return End::Orderly,
                Err(cause) => return End::Failed(cause),
            }
        }
    }

    /// Takes what waits, and makes one group of it. Says whether the store goes on.
    fn round(&mut self) -> Result<bool, String> {
        if !self.take_requests()? {
            return Ok(false);
        }
        self.answer_lookups()?;
        let mut group = self.entering.begin();
        self.entering.enter_large(&mut group);
        while group.has_room() {
            // What was asked for before the end is done before it.
            let ends = matches!(self.waiting.front(), Some(Request::End | Request::Close(_)));
            if ends && self.entering.has_large() {
                break;
            }
            match self.waiting.pop_front() {
                None => break,
                Some(Request::End) => {
                    self.write(group)?;
                    return Ok(false);
                }
                Some(Request::Close(reply)) => {
                    self.closers.push(reply);
                    self.close(group)?;
                    return Ok(false);
                }
                Some(request) => {
                    if let Some(later) = self.entering.enter(&mut group, request) {
                        self.waiting.push_front(later);
                        break;
                    }
                }
            }
        }
        self.write(group)?;
        Ok(true)
    }

    /// Takes what waits; waits itself if there is nothing to do. `false` when nothing can come any more.
    fn take_requests(&mut self) -> Result<bool, String> {
        if self.waiting.is_empty() && !self.entering.is_busy() {
            let request = if self.groups_since_mark == 0 {
                self.requests
                    .recv()
                    .map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                self.requests.recv_timeout(IDLE)
            };
            match request {
                Ok(request) => self.waiting.push_back(request),
                Err(RecvTimeoutError::Timeout) => {
                    // The next round, empty but for this, writes the mark.
                    self.groups_since_mark = GROUPS_PER_MARK;
                    return Ok(true);
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(false),
            }
        }
        while self.waiting.len() < 2 * group::MAX_COMMITS {
            match self.requests.try_recv() {
                Ok(request) => self.waiting.push_back(request),
                Err(_) => break,
            }
        }
        Ok(true)
    }

    /// Answers what only looks, or changes memory only. That comes first, while no group is half made.
    fn answer_lookups(&mut self) -> Result<(), String> {
        let books = &mut self.entering.books;
        for request in std::mem::take(&mut self.waiting) {
            match request {
                Request::Claim(request, reply) => {
                    answer(&self.shared, reply, books.claim(&request))?;
                }
                Request::NextDue(after, reply) => {
                    answer(&self.shared, reply, books.next_due(after))?;
                }
                Request::Renew(leases, until, reply) => {
                    let mut lost = leases;
                    lost.retain(|lease| !books.leases.renew(lease, until));
                    reply.give(Ok(lost));
                }
                other => self.waiting.push_back(other),
            }
        }
        Ok(())
    }

    /// Makes the group durable, answers those who wait for it, and tells the side file now and then.
    fn write(&mut self, mut group: Group) -> Result<(), String> {
        let books = &mut self.entering.books;
        let counted = books.catalog.seal(&books.tree, &mut group);
        counted.map_err(|error| error.to_string())?;
        for (key, entries, leased) in group.seal(&self.entering.books.stamps) {
            self.entering.books.agenda.written(key, entries, leased);
        }
        for entry in std::mem::take(&mut group.entries) {
            self.entering.books.agenda.add(entry);
        }
        let stamp = group.stamp();
        let mark = self.groups_since_mark >= GROUPS_PER_MARK;
        if mark {
            group.loose([(keys::WATERMARK.to_vec(), Some(small(&stamp.0)))]);
        } else if !group.is_empty() {
            self.groups_since_mark += 1;
        }
        self.shared.gate.shut(std::mem::take(&mut group.touched));
        let written = group
            .write(&self.entering.books.tree)
            .map_err(|error| error.to_string());
        let result = match &written {
            Ok(()) => Ok(()),
            Err(cause) => Err(self.shared.stop(cause)),
        };
        self.shared.gate.open();
        group.finish(&result, |change| self.shared.announcer.tell(change));
        written?;
        if mark {
            self.note(stamp)?;
            self.groups_since_mark = 0;
        }
        Ok(())
    }

    fn note(&mut self, group: Stamp) -> Result<(), String> {
        let noted = Noted {
            store: self.opening.store,
            group: group.0,
        };
        let written = self.side.note(noted);
        written.map_err(|error| format!("{}: {error}", self.side.path().display()))
    }

    /// Ends all leases in an orderly way and says in the tree that it was.
    fn close(&mut self, mut group: Group) -> Result<(), String> {
        for id in self.entering.books.leases.ids() {
            group = self.with_room(group)?;
            self.entering.books.give_back(&mut group, &id);
        }
        for entry in self.entering.books.agenda.abandoned() {
            group = self.with_room(group)?;
            self.entering.books.clear(&mut group, &entry);
        }
        self.write(group)?;
        self.opening.closed = true;
        let books = &self.entering.books;
        let stamp = books.stamps.next();
        recovery::note(&books.tree, &self.opening, stamp).map_err(|error| error.to_string())?;
        self.note(stamp)
    }

    /// The group, or, if it is full, the next one.
    fn with_room(&mut self, group: Group) -> Result<Group, String> {
        if group.has_room() {
            return Ok(group);
        }
        self.write(group)?;
        Ok(self.entering.begin())
    }

    /// Lets go of everything, sled before the lock, and tells those who wait for that.
    fn take_down(self) {
        let Self {
            entering,
            shared,
            waiting,
            closers,
            db,
            place,
            ..
        } = self;
        shared.close();
        drop((waiting, entering));
        drop(ManuallyDrop::into_inner(db));
        drop(ManuallyDrop::into_inner(place));
        for closer in closers {
            closer.give(Ok(()));
        }
    }
}

/// Answers with what was read. A tree that cannot be read even for that stops the store.
fn answer<T>(
    shared: &Shared,
    reply: Reply<T>,
    read: Result<T, ::sled::Error>,
) -> Result<(), String> {
    match read {
        Ok(value) => {
            reply.give(Ok(value));
            Ok(())
        }
        Err(error) => {
            let cause = error.to_string();
            reply.give(Err(shared.stop(&cause)));
            Err(cause)
        }
    }
}
