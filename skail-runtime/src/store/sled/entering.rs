//! How requests get into a group.
//!
//! Owns the turn of each request: what is left over from before goes first, large records go in part by
//! part before the request that names them, and the changes of one execution keep their order. Must never
//! write or wait.

use std::collections::VecDeque;

use super::books::Books;
use super::group::Group;
use super::keys;
use super::read;
use super::record::{self, Encoded, Part};
use super::request::Request;
use crate::ids::ExecutionId;

/// The most parts of large records that go into one group.
const PARTS_PER_GROUP: usize = 64;

/// The most remains of deleted executions that are removed in one group.
const REMAINS_PER_GROUP: usize = 500;

/// The books, and the requests whose large records go in before their turn.
#[derive(Debug)]
pub(super) struct Entering {
    pub(super) books: Books,
    large: VecDeque<Large>,
}

/// A request with a large record.
#[derive(Debug)]
struct Large {
    execution: ExecutionId,
    parts: VecDeque<Part>,
    request: Request,
}

impl Entering {
    pub(super) fn new(books: Books) -> Self {
        Self {
            books,
            large: VecDeque::new(),
        }
    }

    /// Whether there is something left to write, even if nobody asks for more.
    pub(super) fn is_busy(&self) -> bool {
        self.has_large() || !self.books.deleted.is_empty() || !self.books.repaired.is_empty()
    }

    /// Whether requests are set aside until their large records are in.
    pub(super) fn has_large(&self) -> bool {
        !self.large.is_empty()
    }

    /// A new group, with what can go now that everything before it is durable.
    pub(super) fn begin(&mut self) -> Group {
        let mut group = Group::new(self.books.stamps.next());
        for (key, record) in std::mem::take(&mut self.books.repaired) {
            let value = group.value(key.group, record::encode(&record), &self.books.stamps);
            group.loose([(key.bytes(), Some(value))]);
        }
        let finished = self.books.agenda.finished();
        group.loose(finished.into_iter().map(|key| (key.bytes(), None)));
        let obsolete = std::mem::take(&mut self.books.obsolete);
        group.loose(obsolete.into_iter().map(|key| (key, None)));
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
    pub(super) fn enter_large(&mut self, group: &mut Group) {
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
    pub(super) fn enter(&mut self, group: &mut Group, mut request: Request) -> Option<Request> {
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
            Request::Release(mut leases, reply) => {
                while let Some(lease) = leases.pop() {
                    if !group.has_room() {
                        leases.push(lease);
                        return Some(Request::Release(leases, reply));
                    }
                    books.release(group, &lease);
                }
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
}
