//! A store written afresh: the only way in which sled's file becomes smaller.
//!
//! Owns the copying, while nobody has the store open. Records are copied byte by byte, also those that
//! cannot be read, so that a rewriting loses nothing. Must never touch the tree that holds before its
//! successor has been read back and is durable.

use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use ::sled::Tree;

use super::error::OpenError;
use super::group::Group;
use super::kept::Kept;
use super::keys::Stamp;
use super::options::Sizes;
use super::place::{Found, Place};
use super::recovery::{self, unreadable};
use super::{keeper, swap};
use crate::ids::ExecutionId;
use crate::store::Durability;

/// What came of rewriting a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rewritten {
    /// How many executions the store holds.
    pub executions: usize,
    /// How many records were left behind, because nothing refers to them any more.
    pub left_behind: usize,
    /// Executions with records that cannot be read. They were copied as they are, with everything that
    /// may be theirs, and go on saying what is wrong with them.
    pub damaged: Vec<ExecutionId>,
    /// The size of the store's files before, in bytes.
    pub size_before: u64,
    /// Their size now, in bytes.
    pub size_after: u64,
}

pub(super) fn rewrite(
    path: &Path,
    durability: Durability,
    sizes: Sizes,
) -> Result<Rewritten, OpenError> {
    let found = Place::take_made(path, durability)?;
    if found.noted.group == 0 {
        // Nothing was ever acknowledged, and the next opening begins anew.
        return Ok(Rewritten::default());
    }
    let place = &found.place;
    swap::settle(place)?;
    place.remove_leftovers()?;
    // sled was seen to panic where it should say what is wrong.
    let written = catch_unwind(AssertUnwindSafe(|| write(&found, sizes)));
    let written = written.unwrap_or_else(|panic| {
        Err(OpenError::Unreadable {
            path: place.tree(),
            reason: keeper::panic_text(&*panic),
        })
    });
    match written {
        Ok(rewritten) => {
            swap::swap(place)?;
            Ok(rewritten)
        }
        Err(error) => {
            // What cannot be removed now is by the next opening; the error is the one to be told.
            let _ = swap::remove(&swap::new_tree(place));
            Err(error)
        }
    }
}

/// Writes the tree's records into a new one beside it, and reads them back.
fn write(found: &Found, sizes: Sizes) -> Result<Rewritten, OpenError> {
    let place = &found.place;
    let (from, to) = (place.tree(), swap::new_tree(place));
    let size_before = swap::size(&from)?;
    let tree = recovery::open_tree(place, &from, sizes)?;
    recovery::check(place, &tree, found.noted)?;
    let failed = |error| unreadable(&from, &error);
    let kept = Kept::of(&tree).map_err(failed)?;
    let damaged = kept.damaged().map_err(failed)?;
    let copying = Copying {
        records: &kept,
        from: &from,
        to: &to,
    };
    // Not dropped after a failed write: sled was seen to hang then.
    let target = ManuallyDrop::new(recovery::open_tree(place, &to, sizes)?);
    let left_behind = copying.copy(&tree, &target)?;
    drop(ManuallyDrop::into_inner(target));
    // Read back as the next opening will find it.
    let target = recovery::open_tree(place, &to, sizes)?;
    copying.compare(&target)?;
    drop(target);
    Ok(Rewritten {
        executions: kept.executions(),
        left_behind,
        damaged,
        size_before,
        size_after: swap::size(&to)?,
    })
}

struct Copying<'a> {
    records: &'a Kept<'a>,
    from: &'a Path,
    to: &'a Path,
}

impl Copying<'_> {
    /// Copies the records, in groups that are bounded like all others; says how many it left behind.
    fn copy(&self, source: &Tree, target: &Tree) -> Result<usize, OpenError> {
        let mut group = Group::new(Stamp(0));
        let mut left_behind = 0;
        for record in source.iter() {
            let (key, value) = record.map_err(|error| unreadable(self.from, &error))?;
            if !self.records.keeps(&key) {
                left_behind += 1;
                continue;
            }
            if !group.has_room() {
                self.write(group, target)?;
                group = Group::new(Stamp(0));
            }
            group.loose([(key.to_vec(), Some(value.to_vec()))]);
        }
        self.write(group, target)?;
        Ok(left_behind)
    }

    fn write(&self, mut group: Group, target: &Tree) -> Result<(), OpenError> {
        group
            .write(target)
            .map_err(|error| unreadable(self.to, &error))
    }

    /// Compares every byte of both.
    fn compare(&self, target: &Tree) -> Result<(), OpenError> {
        let mut written = target.iter();
        for record in self.records.iter() {
            let record = record.map_err(|error| unreadable(self.from, &error))?;
            let copy = written.next().transpose();
            let copy = copy.map_err(|error| unreadable(self.to, &error))?;
            if copy.as_ref() != Some(&record) {
                return Err(self.differs());
            }
        }
        match written.next() {
            None => Ok(()),
            Some(_) => Err(self.differs()),
        }
    }

    fn differs(&self) -> OpenError {
        OpenError::Unreadable {
            path: self.to.to_owned(),
            reason: "the copy is not what was written; the store was left as it is".to_owned(),
        }
    }
}
