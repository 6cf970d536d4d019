//! What the memory store holds, and the contract done to it.
//!
//! Owns every rule: what may be claimed, which lease may change what, when an execution is due. Each
//! method is one whole change under the store's one lock.

use std::collections::{BTreeMap, BTreeSet};

use crate::clock::Timestamp;
use crate::history::Event;
use crate::ids::{Epoch, ExecutionId};
use crate::store::changes::Announcer;
use crate::store::{
    Change, Claim, ClaimRequest, Claimed, Commit, Header, Lease, Message, MessageId, Page, Query,
    StoreError,
};

#[derive(Debug, Default)]
pub(super) struct Data {
    pub(super) records: BTreeMap<ExecutionId, Record>,
    pub(super) due: BTreeSet<(Timestamp, ExecutionId)>,
    pub(super) last_epoch: u64,
    pub(super) last_message: u64,
    /// How many executions were created.
    pub(super) created: u64,
    /// The opening that may use the data now; handles of others are closed.
    pub(super) opening: u64,
    pub(super) closed: bool,
}

#[derive(Debug)]
pub(super) struct Record {
    pub(super) header: Header,
    pub(super) events: Vec<Event>,
    pub(super) inbox: BTreeMap<MessageId, (Timestamp, Message)>,
    pub(super) lease: Option<Held>,
    /// The store was not closed, and nobody has claimed it since.
    pub(super) suspect: bool,
    /// The last owner's lease ended before it was given back.
    pub(super) abandoned: bool,
    pub(super) damage: Option<Damage>,
    /// In which order it was created.
    pub(super) number: u64,
}

#[derive(Debug)]
pub(super) struct Held {
    epoch: Epoch,
    pub(super) until: Timestamp,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Damage {
    Unreported,
    Reported,
}

impl Data {
    pub(super) fn readable(&self, id: &ExecutionId) -> Result<Option<&Record>, StoreError> {
        match self.records.get(id) {
            Some(record) if record.damage.is_some() => Err(damaged(id)),
            found => Ok(found),
        }
    }

    /// The record that `lease` may change.
    pub(super) fn owned(&mut self, lease: &Lease) -> Result<&mut Record, StoreError> {
        let fenced = || StoreError::Fenced {
            execution: lease.execution.clone(),
            epoch: lease.epoch,
        };
        let record = self.records.get_mut(&lease.execution).ok_or_else(fenced)?;
        match &record.lease {
            Some(held) if held.epoch == lease.epoch => Ok(record),
            _ => Err(fenced()),
        }
    }

    /// Brings the due time in line with the inbox, and the due index in line with the header.
    pub(super) fn settle_due(&mut self, id: &ExecutionId, before: Option<Timestamp>) {
        let Some(record) = self.records.get_mut(id) else {
            return;
        };
        let status = record.header.status;
        let waking = record
            .inbox
            .values()
            .filter(|(_, message)| message.wakes(status));
        let woken = waking.map(|(at, _)| *at).min();
        record.header.due = record.header.due.into_iter().chain(woken).min();
        let after = record.header.due;
        if let Some(before) = before {
            self.due.remove(&(before, id.clone()));
        }
        if let Some(after) = after {
            self.due.insert((after, id.clone()));
        }
    }

    pub(super) fn commit(
        &mut self,
        commit: Commit,
        announcer: &Announcer,
    ) -> Result<(), StoreError> {
        let id = commit.lease.execution.clone();
        let record = self.owned(&commit.lease)?;
        if record.damage.is_some() {
            return Err(damaged(&id));
        }
        if commit.first.0 != record.events.len() as u64 {
            let (length, first) = (record.events.len(), commit.first);
            return Err(StoreError::Contradiction {
                reason: format!("its events begin at {first}, but the history has {length} events"),
                execution: id,
            });
        }
        let before = record.header.due;
        record.events.extend(commit.events);
        for message in &commit.consumed {
            record.inbox.remove(message);
        }
        let mut rest = None;
        if let Some(change) = commit.header {
            record.header.status = change.status;
            record.header.due = change.due;
            record.header.updated_at = change.at;
            record.header.problem = change.problem;
            rest = change.status.at_rest().then_some(change.status);
        }
        if commit.release {
            record.give_back();
        }
        self.settle_due(&id, before);
        if commit.release
            && self
                .records
                .get(&id)
                .is_some_and(|record| record.header.due.is_some())
        {
            announcer.tell(Change::Claimable);
        }
        if let Some(status) = rest {
            announcer.tell(Change::AtRest(id, status));
        }
        Ok(())
    }

    fn void_ended_leases(&mut self, now: Timestamp) {
        for record in self.records.values_mut() {
            if record.lease.as_ref().is_some_and(|held| held.until <= now) {
                record.lease = None;
                record.abandoned = record.header.due.is_some();
            }
        }
    }

    pub(super) fn claim(&mut self, request: &ClaimRequest) -> Claimed {
        self.void_ended_leases(request.now);
        let mut claimed = Claimed::default();
        for (due, id) in &self.due {
            if *due > request.now || claimed.claims.len() >= request.limit {
                break;
            }
            let Some(record) = self.records.get_mut(id) else {
                continue;
            };
            if record.lease.is_some() || !request.functions.contains(&record.header.function) {
                continue;
            }
            if let Some(damage) = &mut record.damage {
                if *damage == Damage::Unreported {
                    *damage = Damage::Reported;
                    claimed.damaged.push(damaged(id));
                }
                continue;
            }
            self.last_epoch += 1;
            let epoch = Epoch(self.last_epoch);
            record.lease = Some(Held {
                epoch,
                until: request.until,
            });
            claimed.claims.push(Claim {
                lease: Lease {
                    execution: id.clone(),
                    epoch,
                },
                header: record.header.clone(),
                suspect: !record.header.status.at_rest() && (record.suspect || record.abandoned),
                mail: !record.inbox.is_empty(),
                // Short ones only, so that both ways are walked.
                history: (record.events.len() <= 2).then(|| record.events.clone()),
            });
            // From now on it is for this lease to end well.
            record.suspect = false;
            record.abandoned = false;
        }
        claimed
    }

    pub(super) fn next_due(&self, after: Timestamp) -> Option<Timestamp> {
        let becomes_due = self.due.iter().find(|(due, id)| {
            *due > after
                && self
                    .records
                    .get(id)
                    .is_some_and(|record| record.lease.is_none())
        });
        let leases = self.records.values().filter_map(|record| {
            let claimable = record.header.due?.max(record.lease.as_ref()?.until);
            (claimable > after).then_some(claimable)
        });
        leases.chain(becomes_due.map(|(due, _)| *due)).min()
    }

    pub(super) fn list(&self, query: &Query) -> Page {
        let mut page = Page::default();
        let limit = query.limit.max(1);
        for (id, record) in &self.records {
            let header = &record.header;
            if query.after.as_ref().is_some_and(|after| id <= after) {
                continue;
            }
            if query.status.is_some_and(|status| header.status != status)
                || query
                    .function
                    .as_ref()
                    .is_some_and(|function| header.function != *function)
            {
                continue;
            }
            if page.headers.len() + page.damaged.len() == limit {
                let last = page.headers.last().map(|header| &header.id);
                page.next = last.into_iter().chain(page.damaged.last()).max().cloned();
                break;
            }
            if record.damage.is_some() {
                page.damaged.push(id.clone());
            } else {
                page.headers.push(header.clone());
            }
        }
        page
    }

    pub(super) fn delete(&mut self, ids: &[ExecutionId]) -> usize {
        let mut deleted = 0;
        for id in ids {
            let Some(record) = self.records.get(id) else {
                continue;
            };
            let readable = record.damage.is_none();
            if record.lease.is_some() || readable && !record.header.is_deletable() {
                continue;
            }
            if let Some(due) = record.header.due {
                self.due.remove(&(due, id.clone()));
            }
            self.records.remove(id);
            deleted += 1;
        }
        deleted
    }
}

pub(super) fn damaged(id: &ExecutionId) -> StoreError {
    StoreError::Damaged {
        execution: id.clone(),
        what: "its record".to_owned(),
        reason: "a test damaged it".to_owned(),
    }
}
