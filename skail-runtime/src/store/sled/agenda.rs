//! What is due, and in which order.
//!
//! Owns the reading of the due records: each lists executions that become due at one time, and is loaded
//! when a claim gets there. In memory is only what was loaded and is not leased, so that a claim costs
//! what it claims and sleepers cost nothing. Must never decide whether an entry still holds: the header
//! says that.
//!
//! Invariant: every entry of a loaded record (at or before the cursor) is ready here, held by a lease,
//! passed over because nobody asked for its function, or dead. A record whose entries are all dead is
//! removed, but only after the commits that killed them are durable.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use ::sled::Tree;

use super::keys::{self, DueKey, Stamp};
use super::record::{self, DueRecord, Execution};
use crate::clock::Timestamp;
use crate::ids::{ExecutionId, Sequence};

/// One execution that may be claimed.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) id: ExecutionId,
    pub(super) function: Arc<str>,
    /// The record that it stands in.
    pub(super) key: DueKey,
    /// The stamp by which the header knows it.
    pub(super) entered: Stamp,
    /// How many events its history has, at least.
    pub(super) length: Sequence,
    /// Whether `length` is exact: nobody owned the execution since the entry was written, or the owner's
    /// commits were counted.
    pub(super) counted: bool,
    pub(super) suspect: bool,
    /// What a later opening takes it for.
    pub(super) noted_suspect: bool,
    /// It was claimed in this opening, and the lease ended before it was given back.
    pub(super) abandoned: bool,
}

/// The entries of one function, by due time.
type Queue = BTreeMap<(Timestamp, ExecutionId, Stamp), Entry>;

/// What comes next.
#[derive(Debug)]
pub(super) enum Next {
    /// The entry that is due longest.
    Entry(Entry),
    /// Nothing more is due.
    Nothing,
    /// A record that cannot be read; [`Agenda::load`] takes what it should have said.
    Damaged(DueKey),
}

#[derive(Debug)]
pub(super) struct Agenda {
    ready: HashMap<Arc<str>, Queue>,
    /// How many entries of a record are not known to be dead.
    live: HashMap<DueKey, u32>,
    /// The last record that was loaded.
    cursor: Option<DueKey>,
    /// The furthest the cursor ever stood: entries up to here are known or dead.
    known_to: Option<DueKey>,
    /// The first record after the cursor, once looked up.
    upcoming: Option<Option<DueKey>>,
    /// Functions that a claim has named.
    wanted: HashSet<Arc<str>>,
    /// Functions that no claim has named, and the first record in which each was passed over.
    passed_over: HashMap<Arc<str>, DueKey>,
    finished: Vec<DueKey>,
    /// Entries from this stamp on were written by this opening.
    opening: Stamp,
    /// Entries before this stamp are suspect.
    suspects_before: Stamp,
}

impl Agenda {
    pub(super) fn new(opening: Stamp, suspects_before: Stamp) -> Self {
        Self {
            ready: HashMap::new(),
            live: HashMap::new(),
            cursor: None,
            known_to: None,
            upcoming: None,
            wanted: HashSet::new(),
            passed_over: HashMap::new(),
            finished: Vec::new(),
            opening,
            suspects_before,
        }
    }

    /// Says that a claim names these functions: what was passed over of them is loaded again.
    pub(super) fn want(&mut self, functions: &[String]) {
        for function in functions {
            if self.wanted.contains(function.as_str()) {
                continue;
            }
            self.wanted.insert(Arc::from(function.as_str()));
            if let Some(first) = self.passed_over.remove(function.as_str()) {
                // One before it, so that it is loaded again.
                let before = DueKey {
                    group: Stamp(first.group.0.saturating_sub(1)),
                    part: u16::MAX,
                    ..first
                };
                self.cursor = self.cursor.min(Some(before));
                self.upcoming = None;
            }
        }
    }

    /// Takes the entry that is due longest, of one of `functions`, if it is due by `now`.
    pub(super) fn next(
        &mut self,
        functions: &[String],
        now: Timestamp,
        tree: &Tree,
        held: &dyn Fn(&ExecutionId) -> Option<Stamp>,
    ) -> Result<Next, ::sled::Error> {
        loop {
            let queues = functions.iter().filter_map(|function| {
                let first = self.ready.get(function.as_str())?.first_key_value()?;
                Some((first.0.0, function.as_str()))
            });
            let ready = queues.min().filter(|(due, _)| *due <= now);
            let upcoming = self.upcoming(tree)?.filter(|key| key.due <= now);
            match (ready, upcoming) {
                (Some((due, _)), Some(key)) if key.due < due => {}
                (Some((_, function)), _) => {
                    let queue = self.ready.get_mut(function);
                    if let Some((_, entry)) = queue.and_then(BTreeMap::pop_first) {
                        return Ok(Next::Entry(entry));
                    }
                }
                (None, None) => return Ok(Next::Nothing),
                (None, Some(_)) => {}
            }
            let Some(key) = upcoming else { continue };
            let Some(value) = tree.get(key.bytes())? else {
                // Removed since it was looked up.
                self.cursor = Some(key);
                self.upcoming = None;
                continue;
            };
            match record::read(tree, &value) {
                Ok(record) => self.load(key, &record, held),
                Err(reason) => {
                    tracing::warn!(
                        ?key,
                        reason,
                        "a due record is damaged; the headers tell what stood in it"
                    );
                    return Ok(Next::Damaged(key));
                }
            }
        }
    }

    fn upcoming(&mut self, tree: &Tree) -> Result<Option<DueKey>, ::sled::Error> {
        if let Some(known) = self.upcoming {
            return Ok(known);
        }
        let next = first_record(tree, self.cursor)?;
        self.upcoming = Some(next);
        Ok(next)
    }

    /// Takes in the record at `key` and moves the cursor there. `held` says by which entry an execution
    /// is leased.
    pub(super) fn load(
        &mut self,
        key: DueKey,
        record: &DueRecord,
        held: &dyn Fn(&ExecutionId) -> Option<Stamp>,
    ) {
        self.cursor = Some(key);
        self.known_to = self.known_to.max(self.cursor);
        self.upcoming = None;
        self.live
            .insert(key, u32::try_from(record.entries.len()).unwrap_or(u32::MAX));
        for entry in &record.entries {
            let function = record
                .functions
                .get(entry.function as usize)
                .map_or("", String::as_str);
            let Some(function) = self.wanted.get(function).cloned() else {
                self.passed_over.entry(Arc::from(function)).or_insert(key);
                continue;
            };
            match held(&entry.id) {
                Some(by) if by.0 == entry.entered => {}
                // Another entry of it is in use: this one is of the past.
                Some(_) => self.died(key),
                None => {
                    let entered = Stamp(entry.entered);
                    let suspect = entry.suspect || self.is_suspect(entered);
                    self.keep(Entry {
                        id: entry.id.clone(),
                        function,
                        key,
                        entered,
                        length: Sequence(entry.length),
                        counted: key.group >= self.opening && entry.length > 0,
                        suspect,
                        noted_suspect: suspect,
                        abandoned: false,
                    });
                }
            }
        }
        if record.entries.is_empty() {
            self.finished.push(key);
        }
    }

    /// Says that a record was written. `leased` says whether a leased execution stands in it, whose entry
    /// may die before it is loaded.
    pub(super) fn written(&mut self, key: DueKey, entries: usize, leased: bool) {
        self.upcoming = None;
        if leased || self.knows(key) {
            self.live
                .insert(key, u32::try_from(entries).unwrap_or(u32::MAX));
        }
    }

    /// Whether an entry was written before the last unclean stop.
    pub(super) fn is_suspect(&self, entered: Stamp) -> bool {
        entered < self.suspects_before
    }

    /// Whether the record's entries are known here, so that what is in the record is not read again.
    pub(super) fn knows(&self, key: DueKey) -> bool {
        Some(key) <= self.known_to
    }

    /// Takes an entry (back) that nobody leases. If its record has not been loaded yet, the record will
    /// tell of it when its time comes.
    pub(super) fn add(&mut self, entry: Entry) {
        if self.knows(entry.key) {
            self.keep(entry);
        } else {
            // How many of its entries are dead is not followed any more.
            self.live.remove(&entry.key);
        }
    }

    /// Takes an entry of which more is known than its record says.
    pub(super) fn keep(&mut self, entry: Entry) {
        let Some(function) = self.wanted.get(&entry.function).cloned() else {
            let first = self.passed_over.entry(entry.function).or_insert(entry.key);
            *first = entry.key.min(*first);
            return;
        };
        let place = (entry.key.due, entry.id.clone(), entry.entered);
        // If it is loaded again, more is known of the one that is here.
        self.ready
            .entry(function)
            .or_default()
            .entry(place)
            .or_insert(entry);
    }

    /// Takes the entry of an execution out, if there is one and it is ready. Says whether the execution is
    /// suspect.
    pub(super) fn withdraw(&mut self, execution: &Execution) -> bool {
        let header = &execution.header;
        let Some(due) = header.due else {
            return false;
        };
        let queue = self.ready.get_mut(header.function.as_str());
        let place = (due, header.id.clone(), execution.entered());
        match queue.and_then(|queue| queue.remove(&place)) {
            Some(entry) => {
                self.died(entry.key);
                entry.suspect
            }
            None => self.is_suspect(execution.entered()),
        }
    }

    /// Entries that a later opening would take for suspects although somebody has claimed them since.
    pub(super) fn abandoned(&self) -> Vec<Entry> {
        let entries = self.ready.values().flat_map(BTreeMap::values);
        let marked = entries.filter(|entry| entry.abandoned && entry.noted_suspect);
        marked.cloned().collect()
    }

    /// Says that an entry of the record does not hold any more.
    pub(super) fn died(&mut self, key: DueKey) {
        if let Some(live) = self.live.get_mut(&key) {
            *live = live.saturating_sub(1);
            if *live == 0 {
                self.live.remove(&key);
                self.finished.push(key);
            }
        }
    }

    /// The records that can be removed once everything before is durable.
    pub(super) fn finished(&mut self) -> Vec<DueKey> {
        if !self.finished.is_empty() {
            self.upcoming = None;
        }
        std::mem::take(&mut self.finished)
    }

    /// The first time later than `after` at which an entry stands. It may be one that holds no more.
    pub(super) fn next_due(
        &self,
        after: Timestamp,
        tree: &Tree,
    ) -> Result<Option<Timestamp>, ::sled::Error> {
        let Some(from) = DueKey::after(after) else {
            return Ok(None);
        };
        let stored = match tree.range(from.bytes()..keys::DUE_END.to_vec()).next() {
            Some(found) => DueKey::parse(&found?.0).map(|key| key.due),
            None => None,
        };
        Ok(stored)
    }
}

fn first_record(tree: &Tree, after: Option<DueKey>) -> Result<Option<DueKey>, ::sled::Error> {
    let mut from = after.map_or_else(|| keys::DUE.to_vec(), DueKey::bytes);
    if after.is_some() {
        // The smallest key behind it.
        from.push(0);
    }
    for found in tree.range(from..keys::DUE_END.to_vec()) {
        let (key, _) = found?;
        if let Some(key) = DueKey::parse(&key) {
            return Ok(Some(key));
        }
    }
    Ok(None)
}
