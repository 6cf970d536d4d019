//! A store that lives and dies with its process.
//!
//! Owns the simplest possible reading of the contract: one map behind one lock, for tests and as the
//! model that other stores are compared with. Must never be clever: what it does is what the contract
//! means.

mod data;
mod looking;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::data::{Damage, Data, Record};
use super::changes::Announcer;
use super::{
    Change, Changes, ClaimRequest, Claimed, Commit, Count, Created, Found, Header, Lease, Message,
    MessageId, NewExecution, Page, Query, Search, Sent, Store, StoreError,
};
use crate::clock::{BoxFuture, Timestamp};
use crate::history::Event;
use crate::ids::{ExecutionId, Sequence};

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

impl Store for MemoryStore {
    fn create(&self, new: NewExecution) -> BoxFuture<'_, Result<Created, StoreError>> {
        self.run(move |data, announcer| {
            let id = new.header.id.clone();
            if let Some(record) = data.readable(&id)? {
                return Ok(Created::Exists(record.header.clone()));
            }
            data.created += 1;
            let record = Record {
                header: new.header,
                events: vec![new.first],
                inbox: BTreeMap::new(),
                lease: None,
                suspect: false,
                abandoned: false,
                damage: None,
                number: data.created,
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

    fn find(&self, search: Search) -> BoxFuture<'_, Result<Found, StoreError>> {
        self.run(move |data, _| Ok(data.find(&search)))
    }

    fn counts(&self) -> BoxFuture<'_, Result<Vec<Count>, StoreError>> {
        self.run(move |data, _| Ok(data.counts()))
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
