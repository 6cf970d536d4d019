//! The side file: how far the store had come, noted outside of it.
//!
//! Owns a small file of two slots beside the tree, written in turn and synced, so that one of them is
//! always whole. At open, a tree that is older than the file says has lost what was acknowledged: power
//! cuts were seen after which sled opened an empty tree without an error. Must never run ahead of the
//! tree: a group is noted here when it is durable there.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::history::{decode_record, encode_record};
use crate::store::Durability;

/// Slots stand in disk blocks of their own, so that writing one cannot tear the other.
const SLOT: usize = 4_096;
const SLOTS: u64 = 2;

/// What a slot says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Noted {
    /// Which store.
    pub(super) store: u128,
    /// A group that was durable when this was written.
    pub(super) group: u64,
}

#[derive(Debug)]
pub(super) struct SideFile {
    file: File,
    path: PathBuf,
    turn: u64,
    durability: Durability,
}

impl SideFile {
    /// Makes the file, its slots in place, and notes that nothing was acknowledged yet.
    pub(super) fn create(path: &Path, store: u128, durability: Durability) -> io::Result<Self> {
        let file = File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)?;
        let mut side = Self {
            file,
            path: path.to_owned(),
            turn: 0,
            durability,
        };
        for _ in 0..SLOTS {
            side.note(Noted { store, group: 0 })?;
        }
        side.file.sync_all()?;
        Ok(side)
    }

    /// Opens the file and reads the slot that was written last. `None` if none is whole.
    pub(super) fn open(path: &Path, durability: Durability) -> io::Result<(Self, Option<Noted>)> {
        let bytes = std::fs::read(path)?;
        let slots = bytes
            .chunks(SLOT)
            .zip(0..SLOTS)
            .filter_map(|(slot, index)| {
                let length = usize::from(u16::from_be_bytes(*slot.first_chunk()?));
                let noted: Noted = decode_record(slot.get(2..2 + length)?).ok()?;
                Some((noted, index))
            });
        let last = slots.max_by_key(|(noted, _)| noted.group);
        let side = Self {
            file: File::options().write(true).open(path)?,
            path: path.to_owned(),
            turn: last.map_or(0, |(_, index)| index + 1),
            durability,
        };
        Ok((side, last.map(|(noted, _)| noted)))
    }

    /// Notes a group that is durable, and returns when the note is.
    pub(super) fn note(&mut self, noted: Noted) -> io::Result<()> {
        let record = encode_record(&noted);
        let mut slot = vec![0; SLOT];
        let length = u16::try_from(record.len()).map_err(io::Error::other)?;
        slot[..2].copy_from_slice(&length.to_be_bytes());
        slot[2..2 + record.len()].copy_from_slice(&record);
        write_at(&self.file, &slot, (self.turn % SLOTS) * SLOT as u64)?;
        self.turn += 1;
        match self.durability {
            Durability::Disk => self.file.sync_data(),
            Durability::Process => Ok(()),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    use std::io::{Seek as _, Write as _};
    file.seek(io::SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(group: u64) -> Noted {
        Noted { store: 7, group }
    }

    #[test]
    fn the_last_note_is_read_back_and_a_torn_one_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("side");
        let mut side = SideFile::create(&path, 7, Durability::Disk).unwrap();
        for group in 1..=5 {
            side.note(noted(group)).unwrap();
            let (_, read) = SideFile::open(&path, Durability::Disk).unwrap();
            assert_eq!(read, Some(noted(group)));
        }
        let mut bytes = std::fs::read(&path).unwrap();
        // Group 5 went into the first slot: 0 and 0 filled both, then 1, 2, 3, 4, 5 took turns.
        bytes[10] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let (mut side, read) = SideFile::open(&path, Durability::Disk).unwrap();
        assert_eq!(read, Some(noted(4)));
        side.note(noted(6)).unwrap();
        let (_, read) = SideFile::open(&path, Durability::Disk).unwrap();
        assert_eq!(read, Some(noted(6)));
        std::fs::write(&path, vec![0; 2 * SLOT]).unwrap();
        let (_, read) = SideFile::open(&path, Durability::Disk).unwrap();
        assert_eq!(read, None);
    }
}
