//! A store that lives and dies with its process.
//!
//! Owns the simplest possible reading of the contract: one map behind one lock, for tests and as the
//! model that other stores are compared with. Must never be clever: what it does is what the contract
//! means.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::changes::Announcer;
use super::{
    Change, Changes, Claim, ClaimRequest, Claimed, Commit, Created, Header, Lease, Message,
    MessageId, NewExecution, Page, Query, Sent, Store, StoreError,
};
use crate::clock::{BoxFuture, Timestamp};
use crate::history::Event;
use crate::ids::{Epoch, ExecutionId, Sequence};

/// Executions in memory, for tests: nothing survives the process.
///
/// A clone is the same store. [`crash`](Self::crash) ends this handle and its clones as the death of a
/// process would and gives a fresh one over the same data.
///
/// ```
/// use skail_runtime::store::MemoryStore;
/// let store = MemoryStore::new();
/// let after_the_crash = store.crash();
/// # let _ = after_the_crash;
/// ```
#[derive(Debug, Clone)]
pub struct MemoryStore {
    data: Arc<Mutex<Data>>,
    /// Which opening of the data this handle belongs to.
    opening: u64,
    announcer: Announcer,
}

#[derive(Debug, Default)]
struct Data {
    records: BTreeMap<ExecutionId, Record>,
    due: BTreeSet<(Timestamp, ExecutionId)>,
    last_epoch: u64,
    last_message: u64,
    /// The opening that may use the data now; handles of others are closed.
    opening: u64,
    closed: bool,
}

#[derive(Debug)]
struct Record {
    header: Header,
    events: Vec<Event>,
    inbox: BTreeMap<MessageId, (Timestamp, Message)>,
    lease: Option<Held>,
    /// The store was not closed, and no owner has given the lease back since.
    suspect: bool,
    /// The last owner's lease ended before it was given back.
    abandoned: bool,
    damage: Option<Damage>,
}

#[derive(Debug)]
struct Held {
    epoch: Epoch,
    until: Timestamp,
}

#[derive(Debug, PartialEq, Eq)]
enum Damage {
    Unreported,
    Reported,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::over(Arc::default(), 0)
    }

    fn over(data: Arc<Mutex<Data>>, opening: u64) -> Self {
        Self {
            data,
            opening,
            announcer: Announcer::new(),
        }
    }

    /// Ends this handle and its clones and gives a fresh one over the same data.
    ///
    /// Unless the store was closed before, that is an unclean stop: leases are void, and every execution
    /// that can be claimed now or later is suspect at its first claim.
    #[must_use = "the old handle is closed; use the one that is returned"]
    pub fn crash(&self) -> Self {
        let mut data = self.lock();
        let unclean = !data.closed;
        for record in data.records.values_mut() {
            record.lease = None;
            record.suspect |= unclean && record.header.due.is_some();
            record.abandoned = false;
            if record.damage.is_some() {
                record.damage = Some(Damage::Unreported);
            }
        }
        data.closed = false;
        data.opening += 1;
        Self::over(Arc::clone(&self.data), data.opening)
    }

    /// Makes the records of an execution unreadable, as a rotten disk would. Says whether there is one.
    pub fn damage(&self, id: &ExecutionId) -> bool {
        let mut data = self.lock();
        let record = data.records.get_mut(id);
        record
            .map(|record| record.damage = Some(Damage::Unreported))
            .is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Data> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> Result<MutexGuard<'_, Data>, StoreError> {
        let data = self.lock();
        if data.closed || data.opening != self.opening {
            return Err(StoreError::Closed);
        }
        Ok(data)
    }

    /// Runs `work` on the open data when the future is polled, whole or not at all.
    fn run<'a, T: Send + 'a>(
        &'a self,
        work: impl FnOnce(&mut Data, &Announcer) -> Result<T, StoreError> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        Box::pin(async move { work(&mut *self.open()?, &self.announcer) })
    }
}

impl Record {
    fn give_back(&mut self) {
        self.lease = None;
        self.suspect = false;
        self.abandoned = false;
    }
}

impl Data {
    fn readable(&self, id: &ExecutionId) -> Result<Option<&Record>, StoreError> {
        match self.records.get(id) {
            Some(record) if record.damage.is_some() => Err(damaged(id)),
            found => Ok(found),
        }
    }

    /// The record that `lease` may change.
    fn owned(&mut self, lease: &Lease) -> Result<&mut Record, StoreError> {
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
    fn settle_due(&mut self, id: &ExecutionId, before: Option<Timestamp>) {
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

    fn commit(&mut self, commit: Commit, announcer: &Announcer) -> Result<(), StoreError> {
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

    fn claim(&mut self, request: &ClaimRequest) -> Claimed {
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
        }
        claimed
    }

    fn next_due(&self, after: Timestamp) -> Option<Timestamp> {
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

    fn list(&self, query: &Query) -> Page {
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

    fn delete(&mut self, ids: &[ExecutionId]) -> usize {
        let mut deleted = 0;
        for id in ids {
            let Some(record) = self.records.get(id) else {
                continue;
            };
            let readable = record.damage.is_none();
            if record.lease.is_some() || readable && !record.header.status.at_rest() {
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

fn damaged(id: &ExecutionId) -> StoreError {
    StoreError::Damaged {
        execution: id.clone(),
        what: "its record".to_owned(),
        reason: "a test damaged it".to_owned(),
    }
}

impl Store for MemoryStore {
    fn create(&self, new: NewExecution) -> BoxFuture<'_, Result<Created, StoreError>> {
        self.run(move |data, announcer| {
            let id = new.header.id.clone();
            if let Some(record) = data.readable(&id)? {
                return Ok(Created::Exists(record.header.clone()));
            }
            let record = Record {
                header: new.header,
                events: vec![new.first],
                inbox: BTreeMap::new(),
                lease: None,
                suspect: false,
                abandoned: false,
                damage: None,
            };
            data.records.insert(id.clone(), record);
            data.settle_due(&id, None);
            announcer.tell(Change::Claimable);
            Ok(Created::New)
        })
    }

    fn header(&self, id: &ExecutionId) -> BoxFuture<'_, Result<Option<Header>, StoreError>> {
        let id = id.clone();
        self.run(move |data, _| Ok(data.readable(&id)?.map(|record| record.header.clone())))
    }

    fn history(
        &self,
        id: &ExecutionId,
        from: Sequence,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        let id = id.clone();
        self.run(move |data, _| {
            let events = data.readable(&id)?.map_or(&[][..], |record| &record.events);
            let from = usize::try_from(from.0).unwrap_or(usize::MAX);
            Ok(events.iter().skip(from).take(limit).cloned().collect())
        })
    }

    fn last_event(&self, id: &ExecutionId) -> BoxFuture<'_, Result<Option<Event>, StoreError>> {
        let id = id.clone();
        self.run(move |data, _| {
            Ok(data
                .readable(&id)?
                .and_then(|record| record.events.last().cloned()))
        })
    }

    fn claim(&self, request: ClaimRequest) -> BoxFuture<'_, Result<Claimed, StoreError>> {
        self.run(move |data, _| Ok(data.claim(&request)))
    }

    fn renew(
        &self,
        leases: Vec<Lease>,
        until: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<Lease>, StoreError>> {
        self.run(move |data, _| {
            let mut lost = Vec::new();
            for lease in leases {
                match data.owned(&lease).map(|record| &mut record.lease) {
                    Ok(Some(held)) => held.until = until,
                    _ => lost.push(lease),
                }
            }
            Ok(lost)
        })
    }

    fn release(&self, leases: Vec<Lease>) -> BoxFuture<'_, Result<(), StoreError>> {
        self.run(move |data, announcer| {
            for lease in leases {
                if let Ok(record) = data.owned(&lease) {
                    record.give_back();
                    announcer.tell(Change::Claimable);
                }
            }
            Ok(())
        })
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<(), StoreError>> {
        self.run(move |data, announcer| data.commit(commit, announcer))
    }

    fn send(
        &self,
        id: &ExecutionId,
        message: Message,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Sent, StoreError>> {
        let id = id.clone();
        self.run(move |data, announcer| {
            data.last_message += 1;
            let number = MessageId(data.last_message);
            let Some(record) = data.readable(&id)? else {
                return Ok(Sent::Unknown);
            };
            let header = &record.header;
            if header.status.is_final() {
                return Ok(Sent::Ended(header.status));
            }
            let (status, due) = (header.status, header.due);
            let wakes = message.wakes(status);
            if let Some(record) = data.records.get_mut(&id) {
                record.inbox.insert(number, (at, message));
            }
            data.settle_due(&id, due);
            announcer.tell(Change::Mail(id));
            if wakes {
                announcer.tell(Change::Claimable);
            }
            Ok(Sent::Delivered(number))
        })
    }

    fn inbox(
        &self,
        id: &ExecutionId,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(MessageId, Message)>, StoreError>> {
        let id = id.clone();
        self.run(move |data, _| {
            let record = data.readable(&id)?;
            let messages = record.into_iter().flat_map(|record| &record.inbox);
            let messages = messages.map(|(number, (_, message))| (*number, message.clone()));
            Ok(messages.take(limit).collect())
        })
    }

    fn next_due(&self, after: Timestamp) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        self.run(move |data, _| Ok(data.next_due(after)))
    }

    fn list(&self, query: Query) -> BoxFuture<'_, Result<Page, StoreError>> {
        self.run(move |data, _| Ok(data.list(&query)))
    }

    fn delete(&self, ids: Vec<ExecutionId>) -> BoxFuture<'_, Result<usize, StoreError>> {
        self.run(move |data, _| Ok(data.delete(&ids)))
    }

    fn changes(&self) -> Changes {
        self.announcer.subscribe()
    }

    fn close(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let Ok(mut data) = self.open() else {
                return Ok(());
            };
            for record in data.records.values_mut() {
                if record.lease.is_some() {
                    record.give_back();
                }
            }
            data.closed = true;
            Ok(())
        })
    }
}
