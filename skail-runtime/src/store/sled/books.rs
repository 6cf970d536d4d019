//! What a change of an execution writes.
//!
//! Owns the rules of the contract: which lease may change what, where events go, when an execution is
//! due. Each change is checked against the leases and the tree, kept in memory, and entered into a
//! [`Group`]. Only the keeper's thread works here, one request after the other, so nothing is locked.
//! Must never write to the tree: that is the group's business.
//!
//! What is kept in memory runs ahead of the tree while a group is being put together. If the group then
//! fails, the store stops for good, so nobody acts on it.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use ::sled::Tree;

use super::agenda::Agenda;
use super::catalog::Catalog;
use super::due::{enter, entry, put_header};
use super::group::{Group, Operation};
use super::keys::{self, DueKey, Stamp};
use super::leases::Leases;
use super::prepared::{CommitRecord, Events, MessageRecord, NewRecord};
use super::read;
use super::record::{self, DueRecord, Execution, Latest};
use super::stamps::Stamps;
use crate::ids::{ExecutionId, Sequence};
use crate::store::{Change, Created, MessageId, Sent, StoreError};

#[derive(Debug)]
pub(super) struct Books {
    pub(super) tree: Tree,
    pub(super) agenda: Agenda,
    pub(super) leases: Leases,
    pub(super) catalog: Catalog,
    pub(super) stamps: Arc<Stamps>,
    /// Whether there may be messages anywhere.
    pub(super) mail: bool,
    /// Executions whose damage has been reported.
    pub(super) reported: HashSet<ExecutionId>,
    /// Due records that were put together again.
    pub(super) repaired: Vec<(DueKey, DueRecord)>,
    /// Keys to which nothing refers once the group is durable in which they were left.
    pub(super) obsolete: Vec<Vec<u8>>,
    /// Executions whose remains are still to be deleted.
    pub(super) deleted: VecDeque<Stamp>,
}

impl Books {
    /// An execution that nobody leases, as this group leaves it.
    pub(super) fn at_large(
        &self,
        group: &Group,
        id: &ExecutionId,
    ) -> Result<Option<Execution>, StoreError> {
        match group.executions.get(id) {
            Some(known) => Ok(known.clone()),
            None => read::execution(&self.tree, id),
        }
    }

    /// The number of an execution, if there is one.
    pub(super) fn number(
        &self,
        group: &Group,
        id: &ExecutionId,
    ) -> Result<Option<Stamp>, StoreError> {
        match self.leases.get(id) {
            Some(owned) => Ok(Some(owned.number())),
            None => Ok(self
                .at_large(group, id)?
                .map(|execution| Stamp(execution.number))),
        }
    }

    pub(super) fn create(
        &mut self,
        group: &mut Group,
        new: NewRecord,
    ) -> Result<Created, StoreError> {
        let NewRecord {
            execution,
            record,
            first,
        } = new;
        let (id, number) = (execution.header.id.clone(), Stamp(execution.number));
        let standing = match self.leases.get(&id) {
            Some(owned) => Some(owned.execution.header.clone()),
            None => self.at_large(group, &id)?.map(|execution| execution.header),
        };
        if let Some(header) = standing {
            return Ok(Created::Exists(header));
        }
        let mut operations = Vec::with_capacity(2);
        if let Some(first) = first {
            let value = group.value(number, first, &self.stamps);
            operations.push((keys::events(number, Sequence(0)), Some(value)));
        }
        let value = group.value(number, record, &self.stamps);
        operations.push((keys::header(&id), Some(value)));
        operations.extend(self.catalog.enter(&execution));
        let entered = execution.header.due.is_some();
        if let Some(due) = execution.header.due {
            let written = enter(group, due, &execution, Sequence(1), false, false);
            let entry = entry(&execution, written, Sequence(1), false);
            group.entries.push(entry);
        }
        group.commit(number, operations, entered);
        group.touched.insert(id.clone());
        group.tell(Change::Claimable);
        group.executions.insert(id, Some(execution));
        Ok(Created::New)
    }

    /// Enters a commit. Gives it back if it has to read what this group writes: then it comes first in
    /// the next one.
    pub(super) fn commit(
        &mut self,
        group: &mut Group,
        commit: Box<CommitRecord>,
    ) -> Result<Option<Box<CommitRecord>>, StoreError> {
        let owned = self.leases.owned(&commit.lease)?;
        let (id, number) = (commit.lease.execution.clone(), owned.number());
        if commit.first != owned.length {
            let (first, length) = (commit.first, owned.length);
            return Err(StoreError::Contradiction {
                reason: format!("its events begin at {first}, but the history has {length} events"),
                execution: id,
            });
        }
        if commit.header.is_some() && group.mailed.contains(&number) {
            // Whether the mail makes it due is read from the tree.
            return Ok(Some(commit));
        }
        let mut operations: Vec<Operation> = Vec::with_capacity(3);
        for message in &commit.consumed {
            operations.push((keys::message(number, message.0), None));
        }
        let mut latest = None;
        match commit.events {
            Events::None => {}
            Events::Inline(events) => {
                latest = Some(Latest {
                    first: commit.first,
                    events,
                })
            }
            Events::Apart(events) => {
                let value = group.value(number, events, &self.stamps);
                operations.push((keys::events(number, commit.first), Some(value)));
            }
        }
        owned.length = Sequence(owned.length.0 + commit.count);
        let mut entered = false;
        if let Some(change) = commit.header {
            let woken = if owned.mail {
                read::waking(&self.tree, number, change.status, &commit.consumed)?
            } else {
                None
            };
            let due = change.due.into_iter().chain(woken).min();
            let execution = &mut owned.execution;
            let header = &mut execution.header;
            let from = std::mem::replace(&mut header.status, change.status);
            header.updated_at = change.at;
            header.problem = change.problem;
            if std::mem::replace(&mut header.due, due) != due {
                if let Some(written) = owned.entry.take() {
                    self.agenda.died(written.key);
                }
                if let Some(due) = due {
                    execution.entered = Some(self.stamps.next().0);
                    let leased = !commit.release;
                    owned.entry = Some(enter(group, due, execution, owned.length, false, leased));
                    entered = true;
                }
            }
            if let Some(before) = std::mem::replace(&mut execution.latest, latest) {
                let value = group.value(number, record::encode(&before.events), &self.stamps);
                operations.push((keys::events(number, before.first), Some(value)));
            }
            operations.push(put_header(
                group,
                execution,
                &self.stamps,
                &mut self.obsolete,
            ));
            operations.extend(self.catalog.shift(execution, from));
            if change.status.at_rest() {
                group.tell(Change::AtRest(id.clone(), change.status));
            }
        }
        group.commit(number, operations, entered);
        group.touched.insert(id.clone());
        if commit.release {
            self.give_back(group, &id);
        }
        Ok(None)
    }

    pub(super) fn send(
        &mut self,
        group: &mut Group,
        id: &ExecutionId,
        mail: MessageRecord,
    ) -> Result<Sent, StoreError> {
        let mut at_large = None;
        let execution = match self.leases.get_mut(id) {
            Some(owned) => &mut owned.execution,
            None => match self.at_large(group, id)? {
                Some(execution) => at_large.insert(execution),
                None => return Ok(Sent::Unknown),
            },
        };
        let (number, status) = (Stamp(execution.number), execution.header.status);
        if status.is_final() {
            return Ok(Sent::Ended(status));
        }
        let message = MessageId(self.stamps.next().0);
        let value = group.value(number, mail.record, &self.stamps);
        let mut operations = vec![(keys::message(number, message.0), Some(value))];
        let due = execution.header.due;
        let wakes = mail.message.wakes(status) && due.is_none_or(|due| due > mail.at);
        let mut suspect = false;
        if wakes {
            suspect = self.agenda.withdraw(execution);
            execution.header.due = Some(mail.at);
            execution.entered = Some(self.stamps.next().0);
            operations.push(put_header(
                group,
                execution,
                &self.stamps,
                &mut self.obsolete,
            ));
            group.tell(Change::Claimable);
        }
        if let Some(execution) = at_large {
            if wakes {
                // How long the history is, nobody has in memory: 0 says so.
                let written = enter(group, mail.at, &execution, Sequence(0), suspect, false);
                let entry = entry(&execution, written, Sequence(0), suspect);
                group.entries.push(entry);
            }
            group.executions.insert(id.clone(), Some(execution));
        } else if let Some(owned) = self.leases.get_mut(id) {
            owned.mail = true;
            if wakes {
                if let Some(written) = owned.entry.take() {
                    self.agenda.died(written.key);
                }
                let written = enter(group, mail.at, &owned.execution, owned.length, false, true);
                owned.entry = Some(written);
            }
        }
        group.commit(number, operations, wakes);
        group.touched.insert(id.clone());
        group.mailed.insert(number);
        group.tell(Change::Mail(id.clone()));
        self.mail = true;
        Ok(Sent::Delivered(message))
    }

    /// Deletes an execution, if the contract allows it; says whether it did.
    pub(super) fn delete(
        &mut self,
        group: &mut Group,
        id: &ExecutionId,
    ) -> Result<bool, StoreError> {
        if self.leases.get(id).is_some() {
            return Ok(false);
        }
        // One whose header cannot be read is deleted by its key alone: there is no other way to be rid
        // of it. What it leaves behind under its number, nobody finds.
        let execution = match self.at_large(group, id) {
            Ok(Some(execution)) => Some(execution),
            Ok(None) => return Ok(false),
            Err(_) => None,
        };
        let mut operations: Vec<Operation> = vec![(keys::header(id), None)];
        let mut number = Stamp(0);
        if let Some(execution) = execution {
            if !execution.header.is_deletable() {
                return Ok(false);
            }
            number = Stamp(execution.number);
            self.agenda.withdraw(&execution);
            operations.extend(self.catalog.remove(&execution));
            match read::remains(&self.tree, number, group.room()) {
                Ok(keys) => operations.extend(keys.into_iter().map(|key| (key, None))),
                // Too many for one group: they go later, and not be forgotten in a crash.
                Err(_) => {
                    operations.push((keys::deleted(number), Some(Vec::new())));
                    self.deleted.push_back(number);
                }
            }
        } else {
            let entry = self.catalog.remove_unread(&self.tree, id);
            operations.extend(entry.map_err(|error| StoreError::Unavailable {
                reason: error.to_string(),
            })?);
        }
        group.commit(number, operations, false);
        group.touched.insert(id.clone());
        group.executions.insert(id.clone(), None);
        Ok(true)
    }
}
