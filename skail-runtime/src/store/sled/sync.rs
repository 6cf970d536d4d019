//! The one system call of sled that is replaced, and the proof that it is.
//!
//! Owns the symbol `sync_file_range` of every Linux program that links this crate. sled 0.34.7 makes its
//! log stable with that call, which writes no metadata and leaves the drive's cache alone: not durable.
//! Here it is an `fdatasync`, so that what sled believes to be on disk is on disk, in the order that sled
//! relies on. A sync behind sled's own flush would not be enough: sled reuses the place of moved pages
//! before that sync comes.
//!
//! Must never do anything else: this is the only file with `unsafe` code. A program that calls
//! `sync_file_range` for files of its own gets the stronger call; nothing that is right becomes wrong.
#![allow(unsafe_code, reason = "a symbol of the C library is defined here")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::Durability;

/// A file whose syncs are counted, and whether they are real.
#[derive(Debug)]
struct Watched {
    device: u64,
    inode: u64,
    durability: Durability,
    syncs: Arc<AtomicU64>,
}

static WATCHED: Mutex<Vec<Watched>> = Mutex::new(Vec::new());

/// Counts the syncs of one file until it is dropped.
#[derive(Debug)]
pub(super) struct SyncCounter {
    syncs: Arc<AtomicU64>,
}

impl SyncCounter {
    /// Begins to count the syncs of the file that `metadata` is of. With [`Durability::Process`] they
    /// are counted but not made.
    #[cfg(target_os = "linux")]
    pub(super) fn watch(metadata: &std::fs::Metadata, durability: Durability) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let counter = Self {
            syncs: Arc::default(),
        };
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        watched.push(Watched {
            device: metadata.dev(),
            inode: metadata.ino(),
            durability,
            syncs: Arc::clone(&counter.syncs),
        });
        counter
    }

    /// How many syncs sled asked for and got.
    pub(super) fn count(&self) -> u64 {
        self.syncs.load(Ordering::SeqCst)
    }
}

impl Drop for SyncCounter {
    fn drop(&mut self) {
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|file| !Arc::ptr_eq(&file.syncs, &self.syncs));
    }
}

/// What sled calls in place of the C library's function. See the [module](self).
#[cfg(target_os = "linux")]
#[unsafe(no_mangle)]
extern "C" fn sync_file_range(fd: i32, _offset: i64, _bytes: i64, _flags: u32) -> i32 {
    let watched = find(fd);
    if let Some((_, Durability::Process)) = &watched {
        count(watched);
        return 0;
    }
    // SAFETY: fdatasync takes any integer; an invalid descriptor is an error, and errno is left for the
    // caller, who reads it.
    let result = unsafe { libc::fdatasync(fd) };
    if result == 0 {
        count(watched);
    }
    result
}

type Found = (Arc<AtomicU64>, Durability);

#[cfg(target_os = "linux")]
fn find(fd: i32) -> Option<Found> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: `stat` is large enough and is read only if the call says that it has filled it.
    let stat = unsafe {
        if libc::fstat(fd, stat.as_mut_ptr()) != 0 {
            return None;
        }
        stat.assume_init()
    };
    let watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    // A file that was closed and opened again is watched by the newest.
    let mut files = watched.iter().rev();
    let file = files.find(|file| (file.device, file.inode) == (stat.st_dev, stat.st_ino))?;
    Some((Arc::clone(&file.syncs), file.durability))
}

#[cfg(target_os = "linux")]
fn count(watched: Option<Found>) {
    if let Some((syncs, _)) = watched {
        syncs.fetch_add(1, Ordering::SeqCst);
    }
}
