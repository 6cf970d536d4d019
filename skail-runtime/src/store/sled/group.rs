//! One group of commits: what it writes, and who waits for it.
//!
//! Owns the order in which operations reach sled, and the bound on a group. Must never know what the
//! operations mean.
//!
//! A commit of one operation goes in by itself: a batch costs sled a second write and a second sync, and
//! locks readers out. Commits of several operations share one batch, which sled recovers whole or not at
//! all. Within one execution the order is kept: once one of its commits is in the batch, the later ones
//! follow it there.

use std::collections::{BTreeMap, HashMap, HashSet};

use ::sled::{Batch, Tree};

use super::agenda::Entry;
use super::keys::{DueKey, Stamp};
use super::record::{self, DueEntry, DueRecord, Encoded, Execution, Part};
use super::request::Reply;
use super::stamps::Stamps;
use crate::clock::Timestamp;
use crate::ids::{ExecutionId, Sequence};
use crate::store::{Change, StoreError};

/// The most commits of one group. The bounds keep readers, which wait for sled's batch lock, from
/// waiting long, and sled's garbage small.
pub(super) const MAX_COMMITS: usize = 256;
const MAX_OPERATIONS: usize = 1_000;
const MAX_BYTES: usize = 256 * 1_024;

/// The most bytes of the entries of one due record: its frame and the functions' names come to it.
const MAX_DUE_BYTES: usize = 1_024;

/// A put, or a removal.
pub(super) type Operation = (Vec<u8>, Option<Vec<u8>>);

/// Answers a caller once the group is durable, or says why it never will be.
type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

pub(super) struct Group {
    /// When it came, compared with other groups.
    stamp: Stamp,
    alone: Vec<Operation>,
    batch: Vec<Operation>,
    batched: HashSet<Stamp>,
    commits: usize,
    bytes: usize,
    due: BTreeMap<Timestamp, Vec<DuePart>>,
    answers: Vec<Answer>,
    news: Vec<Change>,
    claimable: bool,
    /// Executions that this group changes.
    pub(super) touched: HashSet<ExecutionId>,
    /// Executions without a lease, as this group leaves them; `None` was deleted.
    pub(super) executions: HashMap<ExecutionId, Option<Execution>>,
    /// Entries for the agenda, once the group's due records have their places.
    pub(super) entries: Vec<Entry>,
    /// Executions that this group puts a message into the inbox of.
    pub(super) mailed: HashSet<Stamp>,
}

#[derive(Default)]
struct DuePart {
    record: DueRecord,
    bytes: usize,
    leased: bool,
}

impl Group {
    pub(super) fn new(stamp: Stamp) -> Self {
        Self {
            stamp,
            alone: Vec::new(),
            batch: Vec::new(),
            batched: HashSet::new(),
            commits: 0,
            bytes: 0,
            due: BTreeMap::new(),
            answers: Vec::new(),
            news: Vec::new(),
            claimable: false,
            touched: HashSet::new(),
            executions: HashMap::new(),
            entries: Vec::new(),
            mailed: HashSet::new(),
        }
    }

    pub(super) fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Whether another commit fits in.
    pub(super) fn has_room(&self) -> bool {
        self.commits < MAX_COMMITS && self.room() > 0 && self.bytes < MAX_BYTES
    }

    /// How many more operations fit in.
    pub(super) fn room(&self) -> usize {
        MAX_OPERATIONS.saturating_sub(self.alone.len() + self.batch.len())
    }

    /// Takes the operations of one commit of the execution `number`: all of them, or none, will be there
    /// after a crash, and the due record too if the commit `entered` something there.
    pub(super) fn commit(&mut self, number: Stamp, operations: Vec<Operation>, entered: bool) {
        self.commits += 1;
        self.bytes += size(&operations);
        if operations.len() == 1 && !entered && !self.batched.contains(&number) {
            self.alone.extend(operations);
        } else if !operations.is_empty() {
            self.batched.insert(number);
            self.batch.extend(operations);
        }
    }

    /// Takes operations that mean nothing until a later one refers to them, or that nothing refers to
    /// any more. They go in before all others.
    pub(super) fn loose(&mut self, operations: impl IntoIterator<Item = Operation>) {
        let before = self.alone.len();
        self.alone.extend(operations);
        self.bytes += size(&self.alone[before..]);
    }

    /// The value of a record of the execution `number`, its parts taken in if it has to be cut.
    pub(super) fn value(&mut self, number: Stamp, record: Encoded, stamps: &Stamps) -> Vec<u8> {
        match record {
            Encoded::Small(value) => value,
            Encoded::Large(bytes) => {
                let (value, parts) = record::cut(&bytes, number, stamps.next());
                self.parts(parts);
                value
            }
        }
    }

    /// Takes parts of a large record.
    pub(super) fn parts(&mut self, parts: impl IntoIterator<Item = Part>) {
        self.loose(parts.into_iter().map(|(key, value)| (key, Some(value))));
    }

    /// Enters an execution under the time at which it is due, and says in which record it will stand.
    pub(super) fn due(
        &mut self,
        due: Timestamp,
        execution: &Execution,
        length: Sequence,
        suspect: bool,
        leased: bool,
    ) -> DueKey {
        let (id, function) = (&execution.header.id, &execution.header.function);
        let parts = self.due.entry(due).or_default();
        if parts.last().is_none_or(|part| part.bytes >= MAX_DUE_BYTES) {
            parts.push(DuePart::default());
        }
        let index = parts.len() - 1;
        let part = &mut parts[index];
        let functions = &mut part.record.functions;
        let place = functions.iter().position(|known| *known == *function);
        let place = place.unwrap_or_else(|| {
            functions.push(function.clone());
            part.bytes += function.len();
            functions.len() - 1
        });
        // The numbers and marks beside the id take some 24 bytes.
        part.bytes += id.as_str().len() + 24;
        part.leased |= leased;
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        part.record.entries.push(DueEntry {
            function: place,
            id: id.clone(),
            length: length.0,
            entered: execution.entered().0,
            suspect,
        });
        DueKey {
            due,
            group: self.stamp,
            part: u16::try_from(index).unwrap_or(u16::MAX),
        }
    }

    /// Gives a caller `answer` when the group is durable. A refusal waits as well: what it refers to may
    /// be part of the group.
    pub(super) fn reply<T: Send + 'static>(
        &mut self,
        reply: Reply<T>,
        answer: Result<T, StoreError>,
    ) {
        self.answers
            .push(Box::new(move |result| reply.give(result.and(answer))));
    }

    /// News to be told when the group is durable.
    pub(super) fn tell(&mut self, change: Change) {
        if change == Change::Claimable {
            self.claimable = true;
        } else {
            self.news.push(change);
        }
    }

    /// Turns what was entered as due into records, and returns them: key, entries, and whether a leased
    /// execution is among them.
    pub(super) fn seal(&mut self, stamps: &Stamps) -> Vec<(DueKey, usize, bool)> {
        let group = self.stamp;
        let mut sealed = Vec::new();
        for (due, parts) in std::mem::take(&mut self.due) {
            for (index, part) in (0..).zip(parts) {
                let key = DueKey {
                    due,
                    group,
                    part: index,
                };
                let value = self.value(group, record::encode(&part.record), stamps);
                let operation = (key.bytes(), Some(value));
                self.bytes += size(std::slice::from_ref(&operation));
                self.batch.push(operation);
                sealed.push((key, part.record.entries.len(), part.leased));
            }
        }
        sealed
    }

    pub(super) fn is_empty(&self) -> bool {
        self.alone.is_empty() && self.batch.is_empty()
    }

    /// Writes everything and returns when it is durable.
    pub(super) fn write(&mut self, tree: &Tree) -> Result<(), ::sled::Error> {
        if self.is_empty() {
            return Ok(());
        }
        let mut batch = std::mem::take(&mut self.batch);
        if batch.len() == 1 {
            self.alone.append(&mut batch);
        }
        for (key, value) in self.alone.drain(..) {
            match value {
                Some(value) => tree.insert(key, value)?,
                None => tree.remove(key)?,
            };
        }
        if !batch.is_empty() {
            let mut all = Batch::default();
            for (key, value) in batch {
                match value {
                    Some(value) => all.insert(key, value),
                    None => all.remove(key),
                }
            }
            tree.apply_batch(all)?;
        }
        tree.flush()?;
        Ok(())
    }

    /// Tells everybody who waits how it went.
    pub(super) fn finish(self, result: &Result<(), StoreError>, tell: impl Fn(Change)) {
        for answer in self.answers {
            answer(result.clone());
        }
        if result.is_ok() {
            self.news.into_iter().for_each(&tell);
            if self.claimable {
                tell(Change::Claimable);
            }
        }
    }
}

fn size(operations: &[Operation]) -> usize {
    let sizes = operations
        .iter()
        .map(|(key, value)| key.len() + value.as_ref().map_or(0, Vec::len));
    sizes.sum()
}
