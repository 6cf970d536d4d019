//! The plain data that goes in and out of a store.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::codec::Digest;
use crate::history::{AcceptedArguments, Event, Status};
use crate::ids::{Epoch, ExecutionId, Sequence, WorkerId};

/// An execution to be created. Its `first` event is [`Event::Started`], at sequence 0.
#[derive(Debug, Clone)]
pub struct NewExecution {
    /// Its header, as it will be stored; `status` is `Running` and `due` is set.
    pub header: Header,
    /// Its first event.
    pub first: Event,
}

/// What is known of an execution without reading its history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The id.
    pub id: ExecutionId,
    /// The recorded name of the function.
    pub function: String,
    /// The digest of the arguments, by which a second start under the same id is compared.
    pub arguments: Digest,
    /// Where it stands.
    pub status: Status,
    /// When it was started.
    pub created_at: Timestamp,
    /// When the header last changed.
    pub updated_at: Timestamp,
    /// From when on it can be claimed; `None` for an execution at rest.
    pub due: Option<Timestamp>,
    /// What makes it findable.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// The error or block message in short, for lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Header {
    /// Whether [`Store::delete`](super::Store::delete) may take the execution out, unless it is leased: it
    /// is at rest, and no message is about to change that.
    #[must_use]
    pub const fn is_deletable(&self) -> bool {
        self.status.is_final() || self.status.at_rest() && self.due.is_none()
    }
}

/// What came of a creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created {
    /// The execution is new.
    New,
    /// The id was taken; nothing was written.
    Exists(Header),
}

/// The right to change one execution: valid until another epoch is given out for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lease {
    /// The execution.
    pub execution: ExecutionId,
    /// The fencing token.
    pub epoch: Epoch,
}

/// Who wants to claim what.
#[derive(Debug, Clone)]
pub struct ClaimRequest {
    /// The worker that will own the leases.
    pub worker: WorkerId,
    /// What time it is: what is due by then can be claimed, and leases that ended by then are void.
    pub now: Timestamp,
    /// When the leases end unless they are renewed.
    pub until: Timestamp,
    /// The most executions to claim.
    pub limit: usize,
    /// The recorded names of the functions that this worker can run.
    pub functions: std::sync::Arc<[String]>,
}

/// What a claim gave.
#[derive(Debug, Default)]
pub struct Claimed {
    /// The leased executions.
    pub claims: Vec<Claim>,
    /// Executions that are due but cannot be read; each is reported once per opening of the store and
    /// then passed over.
    pub damaged: Vec<super::StoreError>,
}

/// One leased execution.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The lease.
    pub lease: Lease,
    /// The header.
    pub header: Header,
    /// Whether it was running when its last owner stopped without giving the lease back, which may have
    /// died in a command, or may have been when the store was not closed.
    pub suspect: bool,
    /// Whether its inbox may hold messages.
    pub mail: bool,
    /// The whole history, if the store had it at hand; else it has to be [read](super::Store::history).
    pub history: Option<Vec<Event>>,
}

/// One atomic change of an execution by the owner of its lease.
#[derive(Debug, Clone)]
pub struct Commit {
    /// The lease under which it is made.
    pub lease: Lease,
    /// Where the first of the events goes: the length of the history before.
    pub first: Sequence,
    /// The events to append; may be empty.
    pub events: Vec<Event>,
    /// The messages to take out of the inbox; those that are not there are passed over. Who takes out
    /// one that woke the execution changes the header too, or the execution stays due.
    pub consumed: Vec<MessageId>,
    /// The new status and due time, only when they change.
    pub header: Option<HeaderChange>,
    /// Whether the lease is given up with it.
    pub release: bool,
}

/// A change of the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderChange {
    /// When it is made.
    pub at: Timestamp,
    /// The new status.
    pub status: Status,
    /// From when on the execution can be claimed once the lease is given up; `None` for at rest. A
    /// message that is left in the inbox and [wakes](Message::wakes) it makes it due earlier.
    pub due: Option<Timestamp>,
    /// The error or block message in short.
    pub problem: Option<String>,
}

/// The place of a message in its inbox: grows with every message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(pub u64);

/// What somebody wants of an execution that another worker may own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Message {
    /// An operator lets a failed or blocked execution go on.
    Resume {
        /// Whether the changed arguments that blocked it are accepted.
        accept_changed_arguments: Option<AcceptedArguments>,
    },
}

impl Message {
    /// Whether an execution in this status has to be claimed because of the message.
    #[must_use]
    pub const fn wakes(&self, status: Status) -> bool {
        match self {
            Self::Resume { .. } => matches!(status, Status::Failed | Status::Blocked),
        }
    }
}

/// What came of sending a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It is in the inbox, durably.
    Delivered(MessageId),
    /// There is no such execution.
    Unknown,
    /// The execution has ended for good; nothing was written.
    Ended(Status),
}

/// What to list.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// Only this status.
    pub status: Option<Status>,
    /// Only this function.
    pub function: Option<String>,
    /// Only ids after this one.
    pub after: Option<ExecutionId>,
    /// The most headers to return; 0 counts as 1.
    pub limit: usize,
}

/// One page of headers.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The headers, in the order of their ids.
    pub headers: Vec<Header>,
    /// Ids of executions in this page whose headers cannot be read.
    pub damaged: Vec<ExecutionId>,
    /// Where the next page begins: pass it as `after`. `None` at the end.
    pub next: Option<ExecutionId>,
}
