//! The directory of a store: whose it is, who holds it, and what an interrupted start left in it.
//!
//! Owns every file but those of sled: the lock, the marker with the format version, the side file. Must
//! never change a directory that is not a store's, and leaves every byte of one that it refuses.
//!
//! ```text
//! skail-data/
//!   lock        held while the store is open; the holder's process id, for the message
//!   store       the marker: what this is, and in which format
//!   watermark   the side file
//!   sled/       the tree; beside it others while it is rewritten, see [`swap`](super::swap)
//! ```
//!
//! The marker comes last when a store is made, so that a directory without one holds nothing that was
//! ever acknowledged.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use super::error::OpenError;
use super::swap;
use super::watermark::{Noted, SideFile};
use crate::store::Durability;

const LOCK: &str = "lock";
const MARKER: &str = "store";
const NEW_MARKER: &str = "store.new";
const SIDE_FILE: &str = "watermark";
const TREE: &str = "sled";

/// The layout of the directory and of the keys. Records have versions of their own.
const FORMAT: u32 = 1;
const TITLE: &str = "skail store";

/// A directory that this process holds.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    lock: File,
}

impl Drop for Place {
    fn drop(&mut self) {
        // Closing it would not do at once: a process that is just being started from this one has it
        // open too, until it becomes another program. If it fails, closing is what is left.
        let _ = self.lock.unlock();
    }
}

/// What was found in the directory.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) place: Place,
    pub(super) side: SideFile,
    /// What the side file says of the tree.
    pub(super) noted: Noted,
}

impl Place {
    /// Takes the directory of a store that is there.
    pub(super) fn take_made(path: &Path, durability: Durability) -> Result<Found, OpenError> {
        if is_directory(path)? && is_store(path)? {
            return Self::hold(path)?.found(durability);
        }
        Err(OpenError::Missing {
            path: path.to_owned(),
        })
    }

    /// Takes the directory, making the store's files if there are none.
    pub(super) fn take(path: &Path, durability: Durability) -> Result<Found, OpenError> {
        if !is_directory(path)? {
            fs::create_dir_all(path).map_err(|error| OpenError::io(path, "made", error))?;
            sync_parents(path)?;
        }
        // Before anything is made there, the lock included.
        let is_made = is_store(path)?;
        let place = Self::hold(path)?;
        if !is_made && !is_store(path)? {
            return place.make(durability);
        }
        place.found(durability)
    }

    fn hold(path: &Path) -> Result<Self, OpenError> {
        Ok(Self {
            path: path.to_owned(),
            lock: lock(path)?,
        })
    }

    /// Reads what the side file says.
    fn found(self, durability: Durability) -> Result<Found, OpenError> {
        let side = self.path.join(SIDE_FILE);
        let (side, noted) = SideFile::open(&side, durability)
            .map_err(|error| OpenError::io(&side, "read", error))?;
        match noted {
            Some(noted) => Ok(Found {
                place: self,
                side,
                noted,
            }),
            None => Err(OpenError::Unreadable {
                path: side.path().to_owned(),
                reason: "neither of its two slots is whole".to_owned(),
            }),
        }
    }

    /// Makes the files of a store, the marker last.
    fn make(self, durability: Durability) -> Result<Found, OpenError> {
        let store = uuid::Uuid::now_v7().as_u128();
        let path = self.path.join(SIDE_FILE);
        let side = SideFile::create(&path, store, durability)
            .map_err(|error| OpenError::io(&path, "written", error))?;
        let (new, marker) = (self.path.join(NEW_MARKER), self.path.join(MARKER));
        write_synced(&new, &format!("{TITLE}\nformat {FORMAT}\n"))
            .map_err(|error| OpenError::io(&new, "written", error))?;
        self.sync()?;
        fs::rename(&new, &marker).map_err(|error| OpenError::io(&marker, "written", error))?;
        self.sync()?;
        Ok(Found {
            place: self,
            side,
            noted: Noted { store, group: 0 },
        })
    }

    /// Where the tree is.
    pub(super) fn tree(&self) -> PathBuf {
        self.path.join(TREE)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the tree.
    pub(super) fn remove_tree(&self) -> Result<(), OpenError> {
        swap::remove(&self.tree())
    }

    /// Removes the snapshots that an interrupted open has left unfinished: sled takes them for finished
    /// ones and then calls the whole tree corrupt. They are a shortcut, nothing stands in them alone.
    pub(super) fn remove_leftovers(&self) -> Result<(), OpenError> {
        let tree = self.tree();
        let entries = match fs::read_dir(&tree) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(OpenError::io(&tree, "read", error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| OpenError::io(&tree, "read", error))?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with("snap.") && name.ends_with(".generating") {
                let path = entry.path();
                fs::remove_file(&path).map_err(|error| OpenError::io(&path, "removed", error))?;
            }
        }
        Ok(())
    }

    /// Makes the directory's entries durable, and those of the tree's.
    pub(super) fn sync(&self) -> Result<(), OpenError> {
        sync_directory(&self.path)?;
        let tree = self.tree();
        if tree.exists() {
            sync_directory(&tree)?;
        }
        Ok(())
    }
}

/// Whether there is a directory; `false` if there is nothing. Refuses anything else.
fn is_directory(path: &Path) -> Result<bool, OpenError> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok(true),
        Ok(_) => Err(OpenError::NotADirectory {
            path: path.to_owned(),
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(OpenError::io(path, "read", error)),
    }
}

/// Whether a directory is a store; `false` if it is empty or the beginning of one. Refuses any other.
fn is_store(path: &Path) -> Result<bool, OpenError> {
    let unreadable = |error| OpenError::io(path, "read", error);
    let mut foreign = None;
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        if name == MARKER {
            let marker = path.join(MARKER);
            let text = fs::read(&marker).map_err(|error| OpenError::io(&marker, "read", error))?;
            return check_marker(&marker, &String::from_utf8_lossy(&text)).map(|()| true);
        }
        if name != LOCK && name != SIDE_FILE && name != NEW_MARKER {
            foreign = Some(name);
        }
    }
    match foreign {
        None => Ok(false),
        Some(name) => Err(OpenError::Foreign {
            path: path.to_owned(),
            found: name.to_string_lossy().into_owned(),
        }),
    }
}

fn lock(path: &Path) -> Result<File, OpenError> {
    let lock = path.join(LOCK);
    let options = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&lock);
    let mut file = options.map_err(|error| OpenError::io(&lock, "opened for writing", error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // The holder's id is only for the message.
            let _ = file.read_to_string(&mut holder);
            return Err(OpenError::Held {
                path: path.to_owned(),
                holder: holder.trim().parse().ok(),
            });
        }
        Err(TryLockError::Error(error)) => return Err(OpenError::io(&lock, "locked", error)),
    }
    let id = format!("{}\n", std::process::id());
    let written = file
        .set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| file.write_all(id.as_bytes()));
    written.map_err(|error| OpenError::io(&lock, "written", error))?;
    Ok(file)
}

fn check_marker(path: &Path, text: &str) -> Result<(), OpenError> {
    let mut lines = text.lines();
    let title = lines.next();
    let format = lines
        .next()
        .and_then(|line| line.strip_prefix("format ")?.parse().ok());
    match format {
        Some(FORMAT) if title == Some(TITLE) => Ok(()),
        Some(found) if title == Some(TITLE) => Err(OpenError::Format {
            path: path.to_owned(),
            found,
            supported: FORMAT,
        }),
        _ => Err(OpenError::Foreign {
            path: path.parent().unwrap_or(path).to_owned(),
            found: MARKER.to_owned(),
        }),
    }
}

fn write_synced(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Makes the entry of a new directory durable, and those of its parents, which may be new too.
fn sync_parents(path: &Path) -> Result<(), OpenError> {
    let absolute =
        std::path::absolute(path).map_err(|error| OpenError::io(path, "found", error))?;
    for parent in absolute.ancestors().skip(1) {
        // One that cannot be opened is not ours and was there before.
        if sync_directory(parent).is_err() {
            break;
        }
    }
    Ok(())
}

#[cfg(unix)]
pub(super) fn sync_directory(path: &Path) -> Result<(), OpenError> {
    let synced = File::open(path).and_then(|directory| directory.sync_all());
    synced.map_err(|error| OpenError::io(path, "synced", error))
}

/// Elsewhere a directory cannot be opened as a file, and its entries need no sync of their own.
#[cfg(not(unix))]
pub(super) fn sync_directory(_: &Path) -> Result<(), OpenError> {
    Ok(())
}
