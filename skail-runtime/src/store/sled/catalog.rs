//! The lists and counts by which executions are found.
//!
//! Owns what stands under `i`, `n` and `t`: it changes in the same batch as the headers, so that it is
//! never older or newer than they are. A step changes none of it, a change of the status two entries. Must
//! never be asked what an execution is: the headers say that.

use std::collections::{BTreeMap, HashMap};

use ::sled::Tree;

use super::group::{Group, Operation};
use super::keys::{self, Stamp, Turn};
use super::record::{self, Execution, Tally};
use super::recovery::small;
use crate::history::Status;
use crate::ids::ExecutionId;
use crate::store::Count;

/// What is known of the counts, and what a group changes of them.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    tallies: HashMap<String, Tally>,
    pending: BTreeMap<String, Vec<(Status, i64)>>,
}

impl Catalog {
    /// Lists an execution.
    pub(super) fn enter(&mut self, execution: &Execution) -> Vec<Operation> {
        let header = &execution.header;
        self.count(&header.function, header.status, 1);
        let keys = entries(execution, header.status);
        let id = small(&header.id);
        keys.map(|key| (key, Some(id.clone()))).collect()
    }

    /// Lists an execution that was in another status.
    pub(super) fn shift(&mut self, execution: &Execution, from: Status) -> Vec<Operation> {
        let header = &execution.header;
        if header.status == from {
            return Vec::new();
        }
        self.count(&header.function, from, -1);
        self.count(&header.function, header.status, 1);
        vec![
            (listed(execution, from), None),
            (listed(execution, header.status), Some(small(&header.id))),
        ]
    }

    /// Takes an execution off the lists.
    pub(super) fn remove(&mut self, execution: &Execution) -> Vec<Operation> {
        let header = &execution.header;
        self.count(&header.function, header.status, -1);
        let keys = entries(execution, header.status);
        keys.map(|key| (key, None)).collect()
    }

    /// Takes off an execution whose header cannot be read, which takes a look at every entry. What it was
    /// tagged with, nobody knows; who looks for that finds no header.
    pub(super) fn remove_unread(
        &mut self,
        tree: &Tree,
        id: &ExecutionId,
    ) -> Result<Vec<Operation>, ::sled::Error> {
        for found in tree.scan_prefix(keys::LISTED) {
            let (key, value) = found?;
            if record::read::<ExecutionId>(tree, &value).as_ref() != Ok(id) {
                continue;
            }
            if let Some(status) = keys::listed_in(&key) {
                for found in tree.scan_prefix(keys::COUNTS).keys() {
                    let counted = found?;
                    if let Some(function) = keys::counts_of(&counted)
                        && keys::is_of_function(&key, function)
                    {
                        self.count(function, status, -1);
                    }
                }
            }
            return Ok(vec![(key.to_vec(), None)]);
        }
        Ok(Vec::new())
    }

    fn count(&mut self, function: &str, status: Status, by: i64) {
        let function = keys::counted_name(function);
        if !self.pending.contains_key(function) {
            self.pending.insert(function.to_owned(), Vec::new());
        }
        if let Some(changes) = self.pending.get_mut(function) {
            match changes.iter_mut().find(|(known, _)| *known == status) {
                Some((_, sum)) => *sum += by,
                None => changes.push((status, by)),
            }
        }
    }

    /// Puts the counts that a group changes into it.
    pub(super) fn seal(&mut self, tree: &Tree, group: &mut Group) -> Result<(), ::sled::Error> {
        let mut operations = Vec::new();
        for (function, changes) in std::mem::take(&mut self.pending) {
            let tally = match self.tallies.get_mut(&function) {
                Some(tally) => tally,
                None => {
                    let tally = tally(tree, &function)?;
                    self.tallies.entry(function.clone()).or_insert(tally)
                }
            };
            for (status, by) in changes {
                tally.add(status, by);
            }
            operations.push((keys::counts(&function), Some(small(&*tally))));
        }
        if !operations.is_empty() {
            group.commit(group.stamp(), operations, true);
        }
        Ok(())
    }
}

impl Tally {
    fn add(&mut self, status: Status, by: i64) {
        match self.counts.iter_mut().find(|(known, _)| *known == status) {
            Some((_, count)) => *count = count.saturating_add_signed(by),
            None => self.counts.push((status, u64::try_from(by).unwrap_or(0))),
        }
        self.counts.retain(|(_, count)| *count > 0);
    }
}

fn listed(execution: &Execution, status: Status) -> Vec<u8> {
    turn(execution).under(&keys::listed_group(status, &execution.header.function))
}

fn turn(execution: &Execution) -> Turn {
    Turn {
        created: execution.header.created_at,
        number: Stamp(execution.number),
    }
}

fn entries(execution: &Execution, status: Status) -> impl Iterator<Item = Vec<u8>> {
    let turn = turn(execution);
    let tags = execution.header.tags.iter();
    let tags = tags.map(move |(name, value)| turn.under(&keys::tagged(name, value)));
    std::iter::once(listed(execution, status)).chain(tags)
}

/// The counts of all functions.
pub(super) fn counts(tree: &Tree) -> Result<Vec<Count>, ::sled::Error> {
    let mut counts = Vec::new();
    for found in tree.scan_prefix(keys::COUNTS).keys() {
        let key = found?;
        let Some(function) = keys::counts_of(&key) else {
            continue;
        };
        let tally = tally(tree, function)?.counts.into_iter();
        counts.extend(tally.map(|(status, executions)| Count {
            function: function.to_owned(),
            status,
            executions,
        }));
    }
    Ok(counts)
}

/// The counts of one function. If their record cannot be read, the lists are counted.
fn tally(tree: &Tree, function: &str) -> Result<Tally, ::sled::Error> {
    let Some(value) = tree.get(keys::counts(function))? else {
        return Ok(Tally::default());
    };
    if let Ok(tally) = record::read(tree, &value) {
        return Ok(tally);
    }
    let mut tally = Tally::default();
    for found in tree.scan_prefix(keys::LISTED).keys() {
        let key = found?;
        if keys::is_of_function(&key, function)
            && let Some(status) = keys::listed_in(&key)
        {
            tally.add(status, 1);
        }
    }
    Ok(tally)
}

/// Lists and counts everything anew, for a store that an older release has changed. Nobody has it open
/// meanwhile; killed on the way, it is begun again.
pub(super) fn rebuild(tree: &Tree) -> Result<(), ::sled::Error> {
    let mut writing = Writing {
        tree,
        group: Group::new(Stamp(0)),
    };
    for space in [keys::LISTED, keys::COUNTS, keys::TAGS] {
        for found in tree.scan_prefix(space).keys() {
            writing.write(vec![(found?.to_vec(), None)])?;
        }
    }
    // The new counts begin with what the tree says.
    writing.flush()?;
    let mut catalog = Catalog::default();
    for (count, found) in (1_u64..).zip(tree.scan_prefix(keys::HEADERS)) {
        let (_, value) = found?;
        // One that cannot be read is in the list by ids.
        if let Ok(execution) = record::read::<Execution>(tree, &value) {
            writing.write(catalog.enter(&execution))?;
        }
        if count % 100_000 == 0 {
            tracing::info!(executions = count, "the store is being listed, once");
        }
    }
    catalog.seal(tree, &mut writing.group)?;
    writing.flush()
}

struct Writing<'a> {
    tree: &'a Tree,
    group: Group,
}

impl Writing<'_> {
    fn write(&mut self, operations: Vec<Operation>) -> Result<(), ::sled::Error> {
        self.group.loose(operations);
        if self.group.has_room() {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<(), ::sled::Error> {
        let mut full = std::mem::replace(&mut self.group, Group::new(Stamp(0)));
        full.write(self.tree)
    }
}
