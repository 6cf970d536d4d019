//! How an execution gets its place among what is due, and how a lease on it ends.
//!
//! Owns the due entries of executions: each change of the due time writes a new one, which the header
//! knows by its stamp, so that entries of the past are told from the one that holds. Must never read the
//! clock: when a lease ended is for the claimer to say.

use std::sync::Arc;

use super::agenda::Entry;
use super::books::Books;
use super::group::{Group, Operation};
use super::keys::{self, Stamp};
use super::leases::{Owned, Written};
use super::record::{self, Execution};
use super::stamps::Stamps;
use crate::clock::Timestamp;
use crate::ids::{ExecutionId, Sequence};
use crate::store::{Change, Lease};

impl Books {
    pub(super) fn release(&mut self, group: &mut Group, lease: &Lease) {
        if self.leases.owned(lease).is_ok() {
            self.give_back(group, &lease.execution);
        }
    }

    /// Ends a lease in an orderly way: its execution is no suspect.
    pub(super) fn give_back(&mut self, group: &mut Group, id: &ExecutionId) {
        let Some(mut owned) = self.leases.end(id) else {
            return;
        };
        let execution = &mut owned.execution;
        if let (Some(mut written), Some(due)) = (owned.entry.take(), execution.header.due) {
            // What is known here of a loaded entry is in memory. Of others, and after a restart, the
            // record has to tell it.
            let stale = written.length != owned.length && !self.agenda.knows(written.key);
            if stale || written.suspect {
                self.agenda.died(written.key);
                written = self.enter_anew(group, due, execution, owned.length);
            }
            let entry = entry(execution, written, owned.length, false);
            group.entries.push(entry);
            group.tell(Change::Claimable);
        }
        group.executions.insert(id.clone(), Some(owned.execution));
    }

    /// Enters an execution under its due time again, as one that is no suspect.
    fn enter_anew(
        &mut self,
        group: &mut Group,
        due: Timestamp,
        execution: &mut Execution,
        length: Sequence,
    ) -> Written {
        execution.entered = Some(self.stamps.next().0);
        let written = enter(group, due, execution, length, false, false);
        let put = put_header(group, execution, &self.stamps, &mut self.obsolete);
        group.commit(Stamp(execution.number), vec![put], true);
        group.touched.insert(execution.header.id.clone());
        written
    }

    /// Clears an execution of suspicion that was claimed since the unclean stop, whatever became of the
    /// lease.
    pub(super) fn clear(&mut self, group: &mut Group, entry: &Entry) {
        // One that cannot be read stays as it is.
        let Ok(Some(mut execution)) = self.at_large(group, &entry.id) else {
            return;
        };
        if let Some(due) = execution.header.due
            && execution.entered() == entry.entered
        {
            self.enter_anew(group, due, &mut execution, entry.length);
        }
    }

    /// Voids the leases that ended: their executions can be claimed, and are suspects.
    pub(super) fn void_ended(&mut self, now: Timestamp) {
        for (_, owned) in self.leases.take_ended(now) {
            let Owned {
                execution,
                length,
                entry: written,
                ..
            } = owned;
            if let Some(written) = written {
                let mut entry = entry(&execution, written, length, true);
                entry.abandoned = true;
                self.agenda.keep(entry);
            }
        }
    }
}

/// The put of an execution's record.
pub(super) fn put_header(
    group: &mut Group,
    execution: &mut Execution,
    stamps: &Stamps,
    obsolete: &mut Vec<Vec<u8>>,
) -> Operation {
    let number = Stamp(execution.number);
    let value = group.value(number, record::encode(execution), stamps);
    let before = std::mem::replace(&mut execution.parts, record::parts(&value));
    obsolete.extend(before.into_iter().flat_map(|parts| parts.keys()));
    (keys::header(&execution.header.id), Some(value))
}

/// Enters an execution into the group's due records.
pub(super) fn enter(
    group: &mut Group,
    due: Timestamp,
    execution: &Execution,
    length: Sequence,
    suspect: bool,
    leased: bool,
) -> Written {
    let key = group.due(due, execution, length, suspect, leased);
    Written {
        key,
        length,
        suspect,
    }
}

pub(super) fn entry(
    execution: &Execution,
    written: Written,
    length: Sequence,
    suspect: bool,
) -> Entry {
    Entry {
        id: execution.header.id.clone(),
        function: Arc::from(execution.header.function.as_str()),
        key: written.key,
        entered: execution.entered(),
        length,
        counted: length.0 > 0,
        suspect,
        noted_suspect: written.suspect,
        abandoned: false,
    }
}
