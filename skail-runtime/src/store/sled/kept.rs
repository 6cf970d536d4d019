//! Which records of a tree are worth keeping.
//!
//! Owns what refers to what: headers to everything under their number, large records to their parts. A
//! record is left behind only if nothing refers to it, and only in a tree in which every record can be
//! read: one that cannot might have been what refers to it. Must never change anything.

use std::collections::HashSet;

use ::sled::{IVec, Tree};
use serde::de::DeserializeOwned;

use super::keys::{self, Stamp};
use super::record::{self, DueRecord, Execution, Mail};
use crate::history::Event;
use crate::ids::ExecutionId;

/// What a look at a whole tree has found. Takes some 16 bytes for each execution and each large record.
#[derive(Debug)]
pub(super) struct Kept<'a> {
    tree: &'a Tree,
    /// The numbers of executions that have a header.
    numbers: HashSet<Stamp>,
    /// The number and stamp of each record's parts.
    parts: HashSet<(Stamp, Stamp)>,
    /// Executions whose headers cannot be read.
    headless: Vec<ExecutionId>,
    /// Numbers of executions of which something else cannot be read.
    damaged: HashSet<Stamp>,
    /// Whether everything can be read.
    whole: bool,
}

impl<'a> Kept<'a> {
    /// Reads the tree through.
    pub(super) fn of(tree: &'a Tree) -> Result<Self, ::sled::Error> {
        let mut kept = Self {
            tree,
            numbers: HashSet::new(),
            parts: HashSet::new(),
            headless: Vec::new(),
            damaged: HashSet::new(),
            whole: true,
        };
        for found in tree.scan_prefix(keys::HEADERS) {
            let (key, value) = found?;
            let id = keys::header_id(&key);
            match kept.read::<Execution>(&value) {
                Some(execution) if Some(&execution.header.id) == id.as_ref() => {
                    kept.numbers.insert(Stamp(execution.number));
                }
                _ => {
                    kept.whole = false;
                    kept.headless.extend(id);
                }
            }
        }
        kept.look_through::<Vec<Event>>(keys::EVENTS)?;
        kept.look_through::<Mail>(keys::MESSAGES)?;
        for found in tree.scan_prefix(keys::DUE) {
            kept.read::<DueRecord>(&found?.1);
        }
        Ok(kept)
    }

    /// Looks at all records of one kind that belong to executions.
    fn look_through<T: DeserializeOwned>(&mut self, prefix: &[u8]) -> Result<(), ::sled::Error> {
        for found in self.tree.scan_prefix(prefix) {
            let (key, value) = found?;
            let number = keys::number(&key).filter(|number| self.numbers.contains(number));
            if let Some(number) = number
                && self.read::<T>(&value).is_none()
            {
                self.damaged.insert(number);
            }
        }
        Ok(())
    }

    /// Reads a record and notes its parts.
    fn read<T: DeserializeOwned>(&mut self, value: &[u8]) -> Option<T> {
        if let Some(parts) = record::parts(value) {
            self.parts.insert((parts.number, parts.stamp));
        }
        let record = record::read(self.tree, value).ok();
        self.whole &= record.is_some();
        record
    }

    /// How many executions there are, those that cannot be read among them.
    pub(super) fn executions(&self) -> usize {
        self.numbers.len() + self.headless.len()
    }

    /// Executions of which something cannot be read.
    pub(super) fn damaged(&self) -> Result<Vec<ExecutionId>, ::sled::Error> {
        let mut ids = self.headless.clone();
        if !self.damaged.is_empty() {
            for found in self.tree.scan_prefix(keys::HEADERS) {
                let (_, value) = found?;
                if let Ok(execution) = record::read::<Execution>(self.tree, &value)
                    && self.damaged.contains(&Stamp(execution.number))
                {
                    ids.push(execution.header.id);
                }
            }
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// All keys and values to be kept, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Result<(IVec, IVec), ::sled::Error>> {
        let all = self.tree.iter();
        all.filter(|found| found.as_ref().map_or(true, |(key, _)| self.keeps(key)))
    }

    /// Whether a record is worth keeping.
    pub(super) fn keeps(&self, key: &[u8]) -> bool {
        let number = || keys::number(key).is_none_or(|number| self.numbers.contains(&number));
        !self.whole
            || if key.starts_with(keys::PARTS) {
                let place = keys::number(key).zip(keys::part_stamp(key));
                place.is_none_or(|place| self.parts.contains(&place))
            } else if key.starts_with(keys::EVENTS) || key.starts_with(keys::MESSAGES) {
                number()
            } else {
                // What is being deleted is gone already, and so is the note of it.
                !key.starts_with(keys::DELETED) || number()
            }
    }
}
