//! The one system call of sled that is replaced, and the proof that it is.
//!
//! Owns the symbol `sync_file_range` of every Linux program that links this crate. sled 0.34.7 makes its
//! log stable with that call, which writes no metadata and leaves the drive's cache alone: not durable.
//! Here it is an `fdatasync`, so that what sled believes to be on disk is on disk, in the order that sled
//! relies on. A sync behind sled's own flush would not be enough: sled reuses the place of moved pages
//! before that sync comes.
//!
//! The file is synced through a descriptor of our own. The kernel reports a failed write once to each
//! opening of a file, and sled's background thread syncs through sled's own and drops the error.
//!
//! Must never do anything else: this is the only file with `unsafe` code. A program that calls
//! `sync_file_range` for files of its own gets the stronger call; nothing that is right becomes wrong.
#![allow(unsafe_code, reason = "a symbol of the C library is defined here")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::Durability;

/// A file whose syncs are counted, and whether they are real.
#[derive(Debug, Clone)]
struct Watched {
    device: u64,
    inode: u64,
    file: Arc<File>,
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
    /// Begins to count the syncs of a file. With [`Durability::Process`] they
    /// are counted but not made.
    pub(super) fn watch(path: &Path, durability: Durability) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        let counter = Self {
            syncs: Arc::default(),
        };
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        watched.push(Watched {
            device: metadata.dev(),
            inode: metadata.ino(),
            file: Arc::new(file),
            durability,
            syncs: Arc::clone(&counter.syncs),
        });
        Ok(counter)
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
#[unsafe(no_mangle)]
extern "C" fn sync_file_range(fd: i32, _offset: i64, _bytes: i64, _flags: u32) -> i32 {
    let watched = find(fd);
    let through = match &watched {
        Some(watched) if watched.durability == Durability::Process => {
            watched.syncs.fetch_add(1, Ordering::SeqCst);
            return 0;
        }
        Some(watched) => watched.file.as_raw_fd(),
        None => fd,
    };
    // SAFETY: fdatasync takes any integer; an invalid descriptor is an error, and errno is left for the
    // caller, who reads it.
    let result = unsafe { libc::fdatasync(through) };
    if result == 0
        && let Some(watched) = watched
    {
        watched.syncs.fetch_add(1, Ordering::SeqCst);
    }
    result
}

fn find(fd: i32) -> Option<Watched> {
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
    files
        .find(|file| (file.device, file.inode) == (stat.st_dev, stat.st_ino))
        .cloned()
}
