//! Changes as the caller's thread hands them to the keeper: checked by nobody yet, but encoded.
//!
//! Owns what can be done before the keeper's turn, because the keeper's thread is the one that everybody
//! waits for. Must never read the store.

use super::keys::Stamp;
use super::record::{self, Encoded, Execution, INLINE_EVENTS, Mail};
use crate::clock::Timestamp;
use crate::history::Event;
use crate::ids::Sequence;
use crate::store::{Commit, HeaderChange, Lease, Message, MessageId, NewExecution};

/// An execution to be created.
#[derive(Debug)]
pub(super) struct NewRecord {
    pub(super) execution: Execution,
    pub(super) record: Encoded,
    /// The first event, if it is too large to stand with the header.
    pub(super) first: Option<Encoded>,
}

impl NewRecord {
    pub(super) fn prepare(new: NewExecution, number: Stamp) -> Self {
        let (started, first) = match Events::prepare(vec![new.first], true) {
            Events::Inline(mut events) => (events.pop(), None),
            Events::Apart(first) => (None, Some(first)),
            Events::None => (None, None),
        };
        let execution = Execution {
            number: number.0,
            header: new.header,
            entered: None,
            started,
            latest: None,
            parts: None,
        };
        let record = record::encode(&execution);
        Self {
            execution,
            record,
            first,
        }
    }
}

/// The events of one commit.
#[derive(Debug)]
pub(super) enum Events {
    /// There are none.
    None,
    /// They are small enough to stand with the header, which changes anyway.
    Inline(Vec<Event>),
    /// A record of their own.
    Apart(Encoded),
}

impl Events {
    fn prepare(events: Vec<Event>, header_changes: bool) -> Self {
        if events.is_empty() {
            return Self::None;
        }
        match record::encode(&events) {
            Encoded::Small(bytes) if header_changes && bytes.len() <= INLINE_EVENTS => {
                Self::Inline(events)
            }
            encoded => Self::Apart(encoded),
        }
    }
}

/// A commit.
#[derive(Debug)]
pub(super) struct CommitRecord {
    pub(super) lease: Lease,
    pub(super) first: Sequence,
    pub(super) count: u64,
    pub(super) events: Events,
    pub(super) consumed: Vec<MessageId>,
    pub(super) header: Option<HeaderChange>,
    pub(super) release: bool,
}

impl CommitRecord {
    pub(super) fn prepare(commit: Commit) -> Self {
        Self {
            lease: commit.lease,
            first: commit.first,
            count: commit.events.len() as u64,
            events: Events::prepare(commit.events, commit.header.is_some()),
            consumed: commit.consumed,
            header: commit.header,
            release: commit.release,
        }
    }
}

/// A message.
#[derive(Debug)]
pub(super) struct MessageRecord {
    pub(super) at: Timestamp,
    pub(super) message: Message,
    pub(super) record: Encoded,
}

impl MessageRecord {
    pub(super) fn prepare(message: Message, at: Timestamp) -> Self {
        let mail = Mail { at, message };
        let record = record::encode(&mail);
        Self {
            at,
            message: mail.message,
            record,
        }
    }
}
