//! From a directory to a store that can be worked with.
//!
//! Owns the order of an opening: take the directory, clear what an interrupted start left, open the tree,
//! compare it with the side file, note the opening durably, prove that sled's syncs are real, and take up
//! what was left undone. Must never serve anything before all of that holds.

use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ::sled::{Mode, Tree};

use super::agenda::Agenda;
use super::books::Books;
use super::catalog::{self, Catalog};
use super::error::OpenError;
use super::handle::Handle;
use super::keys::{self, Stamp};
use super::leases::Leases;
use super::options::Sizes;
use super::place::{Found, Place};
use super::record::{self, Encoded, Opening};
use super::stamps::{self, Stamps};
use super::swap;
#[cfg(target_os = "linux")]
use super::sync::SyncCounter;
use super::watermark::{Noted, SideFile};
use crate::store::Durability;

/// What the keeper's thread works with.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) place: Place,
    pub(super) side: SideFile,
    pub(super) db: Handle,
    pub(super) opening: Opening,
    pub(super) books: Books,
    #[cfg(target_os = "linux")]
    pub(super) syncs: Arc<SyncCounter>,
}

pub(super) fn open(path: &Path, durability: Durability, sizes: Sizes) -> Result<Opened, OpenError> {
    // sled asserts what it should report, of a failing disk as of damaged files.
    let opened = catch_unwind(AssertUnwindSafe(|| open_up(path, durability, sizes)));
    opened.unwrap_or_else(|panic| {
        Err(OpenError::Unreadable {
            path: path.to_owned(),
            reason: super::keeper::panic_text(&*panic),
        })
    })
}

fn open_up(path: &Path, durability: Durability, sizes: Sizes) -> Result<Opened, OpenError> {
    let Found {
        place,
        mut side,
        noted,
    } = Place::take(path, durability)?;
    swap::settle(&place)?;
    if noted.group == 0 {
        // The first opening did not come to its end, so nothing was ever acknowledged, and sled cannot
        // open what a kill leaves half made.
        place.remove_tree()?;
    }
    place.remove_leftovers()?;
    let db = open_tree(&place, &place.tree(), sizes)?;
    // The tree's files, a snapshot's new name, and the directory they are in.
    place.sync()?;
    #[cfg(target_os = "linux")]
    let syncs = Arc::new(watch(&place, durability)?);
    let tree = db.clone();

    let before = check(&place, &tree, noted)?;
    let used = before.as_ref().map_or(0, |opening| opening.first_stamp);
    let used = Stamp(used.max(noted.group).max(watermark(&tree).unwrap_or(0)));
    let first = stamps::opening_after(used);
    let suspects_before = match &before {
        Some(opening) if opening.closed => opening.suspects_before,
        _ => first.0,
    };
    let listed = before.as_ref().is_none_or(|opening| opening.listed);
    let mut opening = Opening {
        store: noted.store,
        first_stamp: first.0,
        closed: false,
        suspects_before,
        listed,
    };
    #[cfg(target_os = "linux")]
    let counted = syncs.count();
    // Every opening has another first stamp, so that this is a change and sled has to write it.
    note(&tree, &opening, first).map_err(|error| unreadable(&place.tree(), &error))?;
    #[cfg(target_os = "linux")]
    if syncs.count() == counted {
        return Err(OpenError::WeakSync {
            path: path.to_owned(),
        });
    }
    if !listed {
        let listing = catalog::rebuild(&tree).and_then(|()| {
            opening.listed = true;
            note(&tree, &opening, first)
        });
        listing.map_err(|error| unreadable(&place.tree(), &error))?;
    }
    let stamps = Stamps::from(Stamp(first.0 + 1));
    side.note(Noted {
        store: noted.store,
        group: first.0,
    })
    .map_err(|error| OpenError::io(side.path(), "written", error))?;

    let books = Books {
        agenda: Agenda::new(first, Stamp(suspects_before)),
        leases: Leases::new(),
        catalog: Catalog::default(),
        stamps: Arc::new(stamps),
        mail: tree.scan_prefix(keys::MESSAGES).next().is_some(),
        reported: HashSet::new(),
        obsolete: Vec::new(),
        repaired: Vec::new(),
        deleted: unfinished_deletions(&tree).map_err(|error| unreadable(&place.tree(), &error))?,
        tree,
    };
    Ok(Opened {
        place,
        side,
        db,
        opening,
        books,
        #[cfg(target_os = "linux")]
        syncs,
    })
}

/// Writes who has the store open, and the watermark beside it, and returns when that is durable.
pub(super) fn note(tree: &Tree, opening: &Opening, group: Stamp) -> Result<(), ::sled::Error> {
    tree.insert(keys::OPENING, small(opening))?;
    tree.insert(keys::WATERMARK, small(&group.0))?;
    tree.flush()?;
    Ok(())
}

/// A record of our own that is never large.
pub(super) fn small<T: serde::Serialize>(record: &T) -> Vec<u8> {
    match record::encode(record) {
        Encoded::Small(value) | Encoded::Large(value) => value,
    }
}

pub(super) fn open_tree(place: &Place, path: &Path, sizes: Sizes) -> Result<Handle, OpenError> {
    let config = ::sled::Config::new()
        .path(path)
        .mode(Mode::LowSpace)
        .cache_capacity(sizes.cache_capacity)
        .segment_size(sizes.segment)
        // This thread also drives the cleaning of segments, so it has to be there.
        .flush_every_ms(Some(500));
    // Another opening of ours in this process may be on its way out: its lock is ours already, sled's own
    // follows. Nobody else can hold it.
    for _ in 0..200 {
        // sled asserts what it should report when its files are damaged.
        match catch_unwind(AssertUnwindSafe(|| config.open())) {
            Ok(Ok(db)) => return Ok(Handle::new(db)),
            Ok(Err(error)) if is_locked(&error) => std::thread::sleep(Duration::from_millis(10)),
            Ok(Err(error)) => return Err(unreadable(path, &error)),
            Err(panic) => {
                return Err(OpenError::Unreadable {
                    path: path.to_owned(),
                    reason: super::keeper::panic_text(&*panic),
                });
            }
        }
    }
    Err(OpenError::Held {
        path: place.path().to_owned(),
        holder: None,
    })
}

fn is_locked(error: &::sled::Error) -> bool {
    matches!(error, ::sled::Error::Io(error) if error.kind() == std::io::ErrorKind::Other && error.to_string().contains("lock"))
}

pub(super) fn unreadable(tree: &Path, error: &::sled::Error) -> OpenError {
    match error {
        // A full disk, for one, is no damage.
        ::sled::Error::Io(error) => {
            let source = error.raw_os_error().map(std::io::Error::from_raw_os_error);
            let source =
                source.unwrap_or_else(|| std::io::Error::new(error.kind(), error.to_string()));
            OpenError::io(tree, "read and written", source)
        }
        error => OpenError::Unreadable {
            path: tree.to_owned(),
            reason: error.to_string(),
        },
    }
}

#[cfg(target_os = "linux")]
fn watch(place: &Place, durability: Durability) -> Result<SyncCounter, OpenError> {
    let log = place.tree().join("db");
    SyncCounter::watch(&log, durability).map_err(|error| OpenError::io(&log, "read", error))
}

/// Refuses a tree that is older than the side file says; gives its last opening.
pub(super) fn check(
    place: &Place,
    tree: &Tree,
    noted: Noted,
) -> Result<Option<Opening>, OpenError> {
    let opening = standing(place, tree)?;
    compare(place, tree, opening.as_ref(), noted)?;
    Ok(opening)
}

fn standing(place: &Place, tree: &Tree) -> Result<Option<Opening>, OpenError> {
    match tree
        .get(keys::OPENING)
        .map_err(|error| unreadable(&place.tree(), &error))?
    {
        Some(value) => {
            record::read(tree, &value)
                .map(Some)
                .map_err(|reason| OpenError::Unreadable {
                    path: place.tree(),
                    reason: format!("the record of its last opening: {reason}"),
                })
        }
        None => Ok(None),
    }
}

fn watermark(tree: &Tree) -> Option<u64> {
    record::read(tree, &tree.get(keys::WATERMARK).ok()??).ok()
}

/// Refuses a tree that is older than the side file says, or another store's.
fn compare(
    place: &Place,
    tree: &Tree,
    opening: Option<&Opening>,
    noted: Noted,
) -> Result<(), OpenError> {
    let lost = |reason| OpenError::Lost {
        path: place.path().to_owned(),
        reason,
    };
    let Some(opening) = opening else {
        return if noted.group == 0 {
            Ok(())
        } else {
            Err(lost(format!(
                "commits up to group {} were acknowledged, but the tree is empty",
                noted.group
            )))
        };
    };
    if opening.store != noted.store {
        return Err(lost(
            "its tree and its file `watermark` belong to different stores".to_owned(),
        ));
    }
    let reached = watermark(tree).unwrap_or(0);
    if reached < noted.group {
        return Err(lost(format!(
            "commits up to group {} were acknowledged, but the tree ends at group {reached}",
            noted.group
        )));
    }
    Ok(())
}

fn unfinished_deletions(tree: &Tree) -> Result<VecDeque<Stamp>, ::sled::Error> {
    let found = tree
        .scan_prefix(keys::DELETED)
        .map(|found| Ok(keys::number(&found?.0)));
    let numbers: Result<Vec<_>, ::sled::Error> = found.collect();
    Ok(numbers?.into_iter().flatten().collect())
}
