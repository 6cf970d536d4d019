//! Two trees in one directory: the one that holds, and another that takes its place.
//!
//! Owns the order in which directories are renamed, so that a process may be killed, or the power may go,
//! between any two calls, and the next opening finds one whole tree. Must never remove a tree before
//! another one is durable under its name.
//!
//! ```text
//!   sled/  sled.new/             being written: the new one goes
//!          sled.new/  sled.old/  in between: the new one is whole, and gets its name
//!   sled/             sled.old/  done: the old one goes
//! ```

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::error::OpenError;
use super::place::{Place, sync_directory};

const NEW: &str = "sled.new";
const OLD: &str = "sled.old";

/// Where the next tree is written.
pub(super) fn new_tree(place: &Place) -> PathBuf {
    place.path().join(NEW)
}

/// Ends what an interrupted rewriting left.
pub(super) fn settle(place: &Place) -> Result<(), OpenError> {
    let (tree, new, old) = (place.tree(), new_tree(place), place.path().join(OLD));
    if !is_there(&tree)? && is_there(&old)? {
        // What the old one was moved away for, or, if somebody removed that, the old one.
        let whole = if is_there(&new)? { &new } else { &old };
        rename(place, whole, &tree)?;
    }
    if is_there(&tree)? {
        remove(&new)?;
        remove(&old)?;
    }
    Ok(())
}

/// Puts the new tree, which nobody has open, in the place of the other one.
pub(super) fn swap(place: &Place) -> Result<(), OpenError> {
    let (tree, new, old) = (place.tree(), new_tree(place), place.path().join(OLD));
    sync_files(&new)?;
    sync_directory(place.path())?;
    rename(place, &tree, &old)?;
    rename(place, &new, &tree)?;
    remove(&old)
}

/// Removes a tree, if it is there.
pub(super) fn remove(tree: &Path) -> Result<(), OpenError> {
    match fs::remove_dir_all(tree) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(OpenError::io(tree, "removed", error))
        }
        _ => Ok(()),
    }
}

/// How many bytes the files of a tree have; none if it is gone.
pub(super) fn size(directory: &Path) -> Result<u64, OpenError> {
    let mut bytes = 0;
    if !is_there(directory)? {
        return Ok(bytes);
    }
    walk(directory, &mut |path| {
        let metadata = fs::metadata(path).map_err(|error| OpenError::io(path, "read", error))?;
        bytes += metadata.len();
        Ok(())
    })?;
    Ok(bytes)
}

/// Renames durably.
fn rename(place: &Place, from: &Path, to: &Path) -> Result<(), OpenError> {
    fs::rename(from, to).map_err(|error| OpenError::io(from, "renamed", error))?;
    sync_directory(place.path())
}

fn is_there(path: &Path) -> Result<bool, OpenError> {
    path.try_exists()
        .map_err(|error| OpenError::io(path, "read", error))
}

/// Makes a directory durable, with everything below it.
fn sync_files(directory: &Path) -> Result<(), OpenError> {
    walk(directory, &mut |path| {
        // Some systems sync only what is open for writing.
        let file = File::options().read(true).write(true).open(path);
        let synced = file.and_then(|file| file.sync_all());
        synced.map_err(|error| OpenError::io(path, "synced", error))
    })?;
    sync_directory(directory)
}

/// Calls `visit` for every file below a directory.
fn walk(
    directory: &Path,
    visit: &mut dyn FnMut(&Path) -> Result<(), OpenError>,
) -> Result<(), OpenError> {
    let unreadable = |error| OpenError::io(directory, "read", error);
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        if entry.file_type().map_err(unreadable)?.is_dir() {
            walk(&path, visit)?;
        } else {
            visit(&path)?;
        }
    }
    Ok(())
}
