//! Who may change what: the leases of this opening.
//!
//! Owns the table of leases, in memory: one process owns the directory, so a lease never outlives it.
//! What the owner of a lease changes is kept beside it, so that a commit reads nothing. Must never touch
//! the tree.

use std::collections::HashMap;

use super::keys::{DueKey, Stamp};
use super::record::Execution;
use crate::clock::Timestamp;
use crate::ids::{Epoch, ExecutionId, Sequence};
use crate::store::{Lease, StoreError};

/// A leased execution, as it stands after the commits so far.
#[derive(Debug)]
pub(super) struct Owned {
    pub(super) epoch: Epoch,
    pub(super) until: Timestamp,
    pub(super) execution: Execution,
    /// The length of its history.
    pub(super) length: Sequence,
    /// Where it stands in the due records, unless it is at rest.
    pub(super) entry: Option<Written>,
    /// Its inbox may hold messages.
    pub(super) mail: bool,
}

/// An execution's entry in a due record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    pub(super) key: DueKey,
    /// The length of the history that stands there.
    pub(super) length: Sequence,
    /// The next opening takes it for a suspect's.
    pub(super) suspect: bool,
}

impl Owned {
    pub(super) fn number(&self) -> Stamp {
        Stamp(self.execution.number)
    }
}

#[derive(Debug)]
pub(super) struct Leases {
    owned: HashMap<ExecutionId, Owned>,
    /// No lease ends before this point. Leases are only ever extended, so it is looked up anew only when
    /// it has passed.
    none_ends_before: Timestamp,
}

impl Leases {
    pub(super) fn new() -> Self {
        Self {
            owned: HashMap::new(),
            none_ends_before: Timestamp::MAX,
        }
    }

    pub(super) fn grant(&mut self, id: ExecutionId, owned: Owned) {
        self.none_ends_before = self.none_ends_before.min(owned.until);
        self.owned.insert(id, owned);
    }

    pub(super) fn get(&self, id: &ExecutionId) -> Option<&Owned> {
        self.owned.get(id)
    }

    pub(super) fn get_mut(&mut self, id: &ExecutionId) -> Option<&mut Owned> {
        self.owned.get_mut(id)
    }

    /// By which due entry an execution is leased.
    pub(super) fn entered(&self, id: &ExecutionId) -> Option<Stamp> {
        Some(self.owned.get(id)?.execution.entered())
    }

    /// The execution that `lease` may change.
    pub(super) fn owned(&mut self, lease: &Lease) -> Result<&mut Owned, StoreError> {
        match self.owned.get_mut(&lease.execution) {
            Some(owned) if owned.epoch == lease.epoch => Ok(owned),
            _ => Err(StoreError::Fenced {
                execution: lease.execution.clone(),
                epoch: lease.epoch,
            }),
        }
    }

    pub(super) fn end(&mut self, id: &ExecutionId) -> Option<Owned> {
        self.owned.remove(id)
    }

    /// Extends a lease; says whether it was still there.
    pub(super) fn renew(&mut self, lease: &Lease, until: Timestamp) -> bool {
        let renewed = self.owned(lease).map(|owned| owned.until = until).is_ok();
        if renewed {
            self.none_ends_before = self.none_ends_before.min(until);
        }
        renewed
    }

    /// Takes out the leases that ended by `now`.
    pub(super) fn take_ended(&mut self, now: Timestamp) -> Vec<(ExecutionId, Owned)> {
        if now < self.none_ends_before {
            return Vec::new();
        }
        let ended = self
            .owned
            .extract_if(|_, owned| owned.until <= now)
            .collect();
        let next = self.owned.values().map(|owned| owned.until).min();
        self.none_ends_before = next.unwrap_or(Timestamp::MAX);
        ended
    }

    /// Every leased execution.
    pub(super) fn ids(&self) -> Vec<ExecutionId> {
        self.owned.keys().cloned().collect()
    }

    /// The first time later than `after` at which the end of a lease makes an execution claimable.
    pub(super) fn next_end(&self, after: Timestamp) -> Option<Timestamp> {
        let claimable = self.owned.values().filter_map(|owned| {
            let due = owned.execution.header.due?;
            Some(due.max(owned.until))
        });
        claimable.filter(|at| *at > after).min()
    }
}
