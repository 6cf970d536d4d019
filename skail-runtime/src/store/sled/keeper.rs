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

use ::sled::Db;

use super::books::Books;
use super::group::{self, Group};
use super::keys::{self, Stamp};
use super::place::Place;
use super::read;
use super::record::{self, Encoded, Opening, Part};
use super::recovery::{self, Opened, small};
use super::request::{Reply, Request};
use super::shared::Shared;
use super::watermark::{Noted, SideFile};
use crate::ids::ExecutionId;

/// How many groups may go by before the side file is told.
const GROUPS_PER_MARK: u32 = 64;

/// How long the store waits for more work before it tells the side file how far it is.
const IDLE: Duration = Duration::from_millis(50);

/// The most parts of large records that go into one group.
const PARTS_PER_GROUP: usize = 64;

/// The most remains of deleted executions that are removed in one group.
const REMAINS_PER_GROUP: usize = 500;

pub(super) struct Keeper {
    books: Books,
    shared: Arc<Shared>,
    requests: Receiver<Request>,
    /// Requests that were taken and wait for their turn.
    waiting: VecDeque<Request>,
    /// Requests whose large records go in part by part, before their turn.
    large: VecDeque<Large>,
    side: SideFile,
    opening: Opening,
    groups_since_mark: u32,
    /// Told when the store is closed and the directory is free.
    closers: Vec<Reply<()>>,
    // Dropped by hand: after a failed write they must not be, and sled before the lock.
    db: ManuallyDrop<Db>,
    place: ManuallyDrop<Place>,
}

/// A request with a large record.
struct Large {
    execution: ExecutionId,
    parts: VecDeque<Part>,
    request: Request,
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
        books: opened.books,
        shared,
        requests,
        waiting: VecDeque::new(),
        large: VecDeque::new(),
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
        self.answer_lookups().map_err(|error| error.to_string())?;
        let mut group = self.begin();
        self.enter_large(&mut group);
        while group.has_room() {
            let Some(request) = self.waiting.pop_front() else {
                break;
            };
            match request {
                Request::End => {
                    self.write(group)?;
                    return Ok(false);
                }
                Request::Close(reply) => {
                    self.closers.push(reply);
                    self.close(group)?;
                    return Ok(false);
                }
                request => {
                    if let Some(later) = self.enter(&mut group, request) {
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
        let busy = !self.waiting.is_empty()
            || !self.large.is_empty()
            || !self.books.deleted.is_empty()
            || !self.books.repaired.is_empty();
        if !busy {
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
    fn answer_lookups(&mut self) -> Result<(), ::sled::Error> {
        for request in std::mem::take(&mut self.waiting) {
            match request {
                Request::Claim(request, reply) => reply.give(Ok(self.books.claim(&request)?)),
                Request::Renew(leases, until, reply) => {
                    let mut lost = leases;
                    lost.retain(|lease| !self.books.leases.renew(lease, until));
                    reply.give(Ok(lost));
                }
                Request::NextDue(after, reply) => reply.give(Ok(self.books.next_due(after)?)),
                other => self.waiting.push_back(other),
            }
        }
        Ok(())
    }

    /// A new group, with what can go now that everything before it is durable.
    fn begin(&mut self) -> Group {
        let mut group = Group::new(self.books.stamps.next());
        let finished = self.books.agenda.finished();
        group.loose(finished.into_iter().map(|key| (key.bytes(), None)));
        for (key, record) in std::mem::take(&mut self.books.repaired) {
            let value = group.value(key.group, record::encode(&record), &self.books.stamps);
            group.loose([(key.bytes(), Some(value))]);
        }
        if let Some(number) = self.books.deleted.pop_front() {
            match read::remains(&self.books.tree, number, REMAINS_PER_GROUP) {
                Ok(keys) => {
                    group.loose(keys.into_iter().map(|key| (key, None)));
                    group.loose([(keys::deleted(number), None)]);
                }
                Err(keys) => {
                    group.loose(keys.into_iter().map(|key| (key, None)));
                    self.books.deleted.push_front(number);
                }
            }
        }
        group
    }

    /// Enters parts of large records, and the requests whose parts are all in.
    fn enter_large(&mut self, group: &mut Group) {
        let mut room = PARTS_PER_GROUP;
        while let Some(first) = self.large.front_mut() {
            let count = room.min(first.parts.len());
            group.parts(first.parts.drain(..count));
            room -= count;
            if !first.parts.is_empty() {
                return;
            }
            let Some(Large {
                execution,
                parts,
                request,
            }) = self.large.pop_front()
            else {
                return;
            };
            if let Some(request) = self.enter_small(group, request) {
                self.large.push_front(Large {
                    execution,
                    parts,
                    request,
                });
                return;
            }
        }
    }

    /// Enters a request, or sets it aside until its large record is in. Gives it back if it has to wait
    /// for the next group.
    fn enter(&mut self, group: &mut Group, mut request: Request) -> Option<Request> {
        let Some(execution) = request.execution() else {
            return self.enter_small(group, request);
        };
        // One execution's changes keep their order.
        let mut parts = VecDeque::new();
        let mut set_aside = self.large.iter().any(|large| large.execution == *execution);
        let execution = execution.clone();
        if request.large().is_some() {
            let number = match request.number() {
                Some(number) => Ok(Some(number)),
                None => self.books.number(group, &execution),
            };
            // Without a number there is nothing to put; the ordinary way says why.
            if let (Ok(Some(number)), Some(record)) = (number, request.large())
                && let Encoded::Large(bytes) = record
            {
                let (value, cut) = record::cut(bytes, number, self.books.stamps.next());
                *record = Encoded::Small(value);
                parts = cut;
                set_aside = true;
            }
        }
        if set_aside {
            self.large.push_back(Large {
                execution,
                parts,
                request,
            });
            return None;
        }
        self.enter_small(group, request)
    }

    fn enter_small(&mut self, group: &mut Group, request: Request) -> Option<Request> {
        let books = &mut self.books;
        match request {
            Request::Create(new, reply) => {
                let created = books.create(group, *new);
                group.reply(reply, created);
            }
            Request::Commit(commit, reply) => match books.commit(group, commit) {
                Ok(None) => group.reply(reply, Ok(())),
                Ok(Some(commit)) => return Some(Request::Commit(commit, reply)),
                Err(error) => group.reply(reply, Err(error)),
            },
            Request::Send(id, mail, reply) => {
                let sent = books.send(group, &id, *mail);
                group.reply(reply, sent);
            }
            Request::Release(leases, reply) => {
                books.release(group, &leases);
                group.reply(reply, Ok(()));
            }
            Request::Delete {
                mut ids,
                mut deleted,
                reply,
            } => {
                while let Some(id) = ids.last() {
                    // What an earlier commit of this group leaves behind is not in the tree yet.
                    if !group.has_room() || group.touched.contains(id) {
                        return Some(Request::Delete {
                            ids,
                            deleted,
                            reply,
                        });
                    }
                    match books.delete(group, id) {
                        Ok(true) => deleted += 1,
                        Ok(false) => {}
                        Err(error) => {
                            group.reply(reply, Err(error));
                            return None;
                        }
                    }
                    ids.pop();
                }
                group.reply(reply, Ok(deleted));
            }
            // These were answered before the group was begun.
            Request::Claim(..)
            | Request::Renew(..)
            | Request::NextDue(..)
            | Request::Close(_)
            | Request::End => return Some(request),
        }
        None
    }

    /// Makes the group durable, answers those who wait for it, and tells the side file now and then.
    fn write(&mut self, mut group: Group) -> Result<(), String> {
        for (key, entries, leased) in group.seal(&self.books.stamps) {
            self.books.agenda.written(key, entries, leased);
        }
        for entry in std::mem::take(&mut group.entries) {
            self.books.agenda.add(entry);
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
            .write(&self.books.tree)
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
        let owned: Vec<ExecutionId> = self.books.leases.ids();
        for id in &owned {
            self.books.give_back(&mut group, id);
        }
        self.write(group)?;
        self.opening.closed = true;
        let stamp = self.books.stamps.next();
        recovery::note(&self.books.tree, &self.opening, stamp)
            .map_err(|error| error.to_string())?;
        self.note(stamp)
    }

    /// Lets go of everything, sled before the lock, and tells those who wait for that.
    fn take_down(self) {
        let Self {
            books,
            shared,
            waiting,
            large,
            closers,
            db,
            place,
            ..
        } = self;
        shared.close();
        drop((waiting, large, books));
        drop(ManuallyDrop::into_inner(db));
        drop(ManuallyDrop::into_inner(place));
        for closer in closers {
            closer.give(Ok(()));
        }
    }
}
