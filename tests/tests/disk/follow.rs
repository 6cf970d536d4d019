//! What of a store's files is on disk for certain, as the system calls of this program tell.
#![allow(
    unsafe_code,
    reason = "the test stands between the store and the C library"
)]

use std::cell::Cell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::c_int;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};

use super::calls::{Call, Observer};

const PAGE: usize = 4_096;

/// A change of a file that may not be on disk yet.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Page { offset: u64, bytes: Vec<u8> },
    Length(u64),
}

/// A file as the disk may hold it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disk {
    /// What is there for certain.
    pub(crate) durable: Vec<u8>,
    /// What came later, each with its number.
    pub(crate) pending: Vec<(u64, Change)>,
}

/// What an image keeps of what was not synced.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keep {
    Nothing,
    RandomHalf,
    NewerHalf,
    Everything,
}

pub(crate) const KEEPS: [Keep; 4] = [
    Keep::Nothing,
    Keep::RandomHalf,
    Keep::NewerHalf,
    Keep::Everything,
];

impl Disk {
    /// What a power cut leaves.
    pub(crate) fn image(&self, keep: Keep, random: &mut fastrand::Rng) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        let half = self.pending.len() / 2;
        for (place, (_, change)) in self.pending.iter().enumerate() {
            let kept = match keep {
                Keep::Nothing => false,
                Keep::RandomHalf => random.bool(),
                Keep::NewerHalf => place >= half,
                Keep::Everything => true,
            };
            if kept {
                apply(&mut bytes, change);
            }
        }
        bytes
    }
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Length(length) => bytes.resize(*length as usize, 0),
        Change::Page {
            offset,
            bytes: page,
        } => {
            let start = *offset as usize;
            bytes.resize(bytes.len().max(start + page.len()), 0);
            bytes[start..start + page.len()].copy_from_slice(page);
        }
    }
}

/// The files that are followed, by inode.
pub(crate) static DISKS: LazyLock<Mutex<HashMap<u64, (PathBuf, Disk)>>> =
    LazyLock::new(Mutex::default);
static NUMBERS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The number up to which the sync that this thread is in covers.
    static COVERS: Cell<u64> = const { Cell::new(0) };
}

pub(crate) struct Follow {
    /// Turns every sync into a lie, to see that the test notices. By hand: `SKAIL_LYING_DISK=1`.
    pub(crate) lying: bool,
}

impl Follow {
    fn with(fd: c_int, then: impl FnOnce(&mut Disk)) {
        let Some(inode) = inode(fd) else {
            return;
        };
        let mut disks = DISKS.lock().unwrap();
        if let Entry::Vacant(vacant) = disks.entry(inode) {
            let Ok(path) = std::fs::read_link(format!("/proc/self/fd/{fd}")) else {
                return;
            };
            if !(path.ends_with("sled/db") || path.ends_with("watermark")) {
                return;
            }
            vacant.insert((path, Disk::default()));
        }
        if let Some((_, disk)) = disks.get_mut(&inode) {
            then(disk);
        }
    }
}

impl Observer for Follow {
    fn before(&self, call: Call<'_>) -> Option<isize> {
        if let Call::Sync { .. } = call {
            COVERS.set(NUMBERS.load(Ordering::SeqCst));
        }
        None
    }

    fn after(&self, call: Call<'_>) {
        let number = |change| (NUMBERS.fetch_add(1, Ordering::SeqCst), change);
        match call {
            Call::Write {
                fd,
                offset: Some(offset),
                bytes,
            } => Self::with(fd, |disk| {
                // Pages as the disk has them, however the write lies.
                let mut start = 0;
                while start < bytes.len() {
                    let at = offset as usize + start;
                    let end = bytes.len().min(start + PAGE - at % PAGE);
                    let page = bytes[start..end].to_vec();
                    let offset = at as u64;
                    disk.pending.push(number(Change::Page {
                        offset,
                        bytes: page,
                    }));
                    start = end;
                }
            }),
            Call::Truncate { fd, length } => {
                Self::with(fd, |disk| disk.pending.push(number(Change::Length(length))));
            }
            Call::Sync { fd } if !self.lying => Self::with(fd, |disk| {
                let covers = COVERS.get();
                let pending = std::mem::take(&mut disk.pending);
                for (number, change) in pending {
                    if number < covers {
                        apply(&mut disk.durable, &change);
                    } else {
                        disk.pending.push((number, change));
                    }
                }
            }),
            _ => {}
        }
    }
}

fn inode(fd: c_int) -> Option<u64> {
    let mut stat = unsafe { std::mem::zeroed::<libc::stat>() };
    (unsafe { libc::fstat(fd, &mut stat) } == 0).then_some(stat.st_ino)
}
