//! What callers ask of the keeper.
//!
//! Owns the messages between the handle and the keeper's thread. Must never hold a borrowed thing: the
//! caller may be gone when its turn comes.

use tokio::sync::oneshot;

use super::keys::Stamp;
use super::prepared::{CommitRecord, Events, MessageRecord, NewRecord};
use super::record::Encoded;
use crate::clock::Timestamp;
use crate::ids::ExecutionId;
use crate::store::{ClaimRequest, Claimed, Created, Lease, Sent, StoreError};

/// Where an answer goes.
#[derive(Debug)]
pub(super) struct Reply<T>(pub(super) oneshot::Sender<Result<T, StoreError>>);

impl<T> Reply<T> {
    pub(super) fn give(self, answer: Result<T, StoreError>) {
        // Whoever dropped the future does not want to know.
        let _ = self.0.send(answer);
    }
}

#[derive(Debug)]
pub(super) enum Request {
    Create(Box<NewRecord>, Reply<Created>),
    Commit(Box<CommitRecord>, Reply<()>),
    Send(ExecutionId, Box<MessageRecord>, Reply<Sent>),
    Claim(ClaimRequest, Reply<Claimed>),
    Renew(Vec<Lease>, Timestamp, Reply<Vec<Lease>>),
    Release(Vec<Lease>, Reply<()>),
    NextDue(Timestamp, Reply<Option<Timestamp>>),
    Delete {
        ids: Vec<ExecutionId>,
        deleted: usize,
        reply: Reply<usize>,
    },
    /// Everything stops in an orderly way.
    Close(Reply<()>),
    /// The handle is gone without a word.
    End,
}

impl Request {
    /// The execution whose order of changes this request is part of.
    pub(super) fn execution(&self) -> Option<&ExecutionId> {
        match self {
            Self::Create(new, _) => Some(&new.execution.header.id),
            Self::Commit(commit, _) => Some(&commit.lease.execution),
            Self::Send(id, ..) => Some(id),
            _ => None,
        }
    }

    /// The number of the execution, if the request brings one.
    pub(super) fn number(&self) -> Option<Stamp> {
        match self {
            Self::Create(new, _) => Some(Stamp(new.execution.number)),
            _ => None,
        }
    }

    /// The record that has to be cut, if there is one.
    pub(super) fn large(&mut self) -> Option<&mut Encoded> {
        let record = match self {
            Self::Create(new, _) => match &mut new.first {
                Some(first) => first,
                None => &mut new.record,
            },
            Self::Commit(commit, _) => match &mut commit.events {
                Events::Apart(events) => events,
                _ => return None,
            },
            Self::Send(_, mail, _) => &mut mail.record,
            _ => return None,
        };
        matches!(record, Encoded::Large(_)).then_some(record)
    }
}
