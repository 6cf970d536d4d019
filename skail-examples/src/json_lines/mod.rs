//! Files of JSON lines that only ever grow: what the shop and the gateway keep on disk.
//!
//! Owns how such a file is opened and what a torn end means. It must never drop an entry that
//! someone may have been told of: only an unfinished last line is cut off, everything else that
//! cannot be read is an error.

mod durable;

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;

pub use durable::{DurableLog, Ticket};

/// Why a log could not be opened or written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LogError {
    /// The system refused.
    #[error("{}: cannot {action} ({source}); see that the disk has room and that this user may write there", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// A line that is not what this program wrote.
    #[error("{}:{line}: damaged ({problem}); restore the directory from a copy, or start in a new one", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What the decoder said.
        problem: String,
    },
}

impl LogError {
    pub(crate) fn io<'a>(
        path: &'a Path,
        action: &'static str,
    ) -> impl FnOnce(io::Error) -> Self + use<'a> {
        move |source| Self::Io {
            path: path.to_owned(),
            action,
            source: Arc::new(source),
        }
    }
}

/// Opens or creates a log: its entries so far, and the file, to which the next line can be
/// appended.
///
/// The last line has no end if the process died while writing it. Nobody was told of that entry,
/// since the answer waits for the whole line to be written: it is cut off, so that the next line
/// does not grow onto it. All entries returned are on disk, also those that a dead process had
/// written but not yet synced.
///
/// # Errors
/// [`LogError`]: the file cannot be opened, read, cut or synced, or a line of it is damaged.
pub fn open<T: DeserializeOwned>(path: &Path) -> Result<(File, Vec<T>), LogError> {
    let new = !path.exists();
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(path)
        .map_err(LogError::io(path, "open it"))?;
    if new && let Some(directory) = path.parent() {
        sync_directory(directory)?;
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(LogError::io(path, "read it"))?;
    let whole = bytes
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1);
    if whole < bytes.len() {
        file.set_len(whole as u64)
            .map_err(LogError::io(path, "cut off its torn last line"))?;
    }
    file.sync_all().map_err(LogError::io(path, "sync it"))?;
    let entries = bytes[..whole]
        .split_inclusive(|&byte| byte == b'\n')
        .enumerate()
        .map(|(index, line)| {
            serde_json::from_slice(line).map_err(|error| LogError::Damaged {
                path: path.to_owned(),
                line: index + 1,
                problem: error.to_string(),
            })
        });
    Ok((file, entries.collect::<Result<_, _>>()?))
}

/// Makes a new name in a directory survive a power cut.
///
/// # Errors
/// [`LogError::Io`].
pub fn sync_directory(directory: &Path) -> Result<(), LogError> {
    File::open(directory)
        .and_then(|file| file.sync_all())
        .map_err(LogError::io(directory, "sync the directory"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn entries(path: &Path) -> Vec<u32> {
        open(path).expect("opens").1
    }

    #[test]
    fn a_torn_last_line_is_cut_off_and_nothing_else() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("log");
        assert!(entries(&path).is_empty());
        for torn in ["3", "{\"half", "\0\0\0"] {
            fs::write(&path, format!("1\n2\n{torn}")).expect("written");
            assert_eq!(entries(&path), [1, 2]);
            assert_eq!(fs::read(&path).expect("read"), b"1\n2\n");
        }
    }

    #[test]
    fn a_damaged_line_is_an_error_with_its_place() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("log");
        fs::write(&path, "1\nx\n3\n").expect("written");
        let error = open::<u32>(&path).expect_err("damaged").to_string();
        assert!(error.contains("log:2: damaged (expected value"), "{error}");
        assert_eq!(
            fs::read(&path).expect("read"),
            b"1\nx\n3\n",
            "left as it was"
        );
    }
}
