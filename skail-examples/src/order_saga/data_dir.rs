//! The directory in which everything of one run lies.
//!
//! Owns the names in it, and the note that says which file of orders it belongs to. It must never
//! touch a directory that is somebody else's, and never change anything before the store in it is
//! locked for this process.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::json_lines::{LogError, sync_directory};

const STORE: &str = "skail";
const LEDGER: &str = "gateway-ledger.jsonl";
const STOCK: &str = "warehouse.jsonl";
const REQUESTS: &str = "requests.jsonl";
const NOTE: &str = "orders.json";
/// The note while it is being written.
const NEW_NOTE: &str = "orders.json.new";

/// Why a directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// The system refused.
    #[error("{}: cannot {action} ({source}); name a directory that this user may write to with --data DIR", path.display())]
    Io {
        /// What was touched.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// There is something else in it.
    #[error("{}: holds {found}, which is not of this program; name a new or empty directory with --data DIR", path.display())]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// Something that is in it.
        found: String,
    },
    /// The executions are gone.
    #[error("{}: holds a run, but not its executions ({STORE}/); restore the directory from a copy, or name a new one with --data DIR", .0.display())]
    NoStore(PathBuf),
    /// It belongs to another file of orders.
    #[error("{}: belongs to other orders ({theirs}); go on with those, or name a new directory with --data DIR", path.display())]
    OtherOrders {
        /// The directory.
        path: PathBuf,
        /// The file that it belongs to.
        theirs: String,
    },
    /// The note cannot be made durable.
    #[error(transparent)]
    Log(#[from] LogError),
}

/// The directory.
#[derive(Debug, Clone)]
pub struct DataDir(PathBuf);

/// Which orders the directory belongs to.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    /// The file's name, for messages.
    orders: String,
    bytes: usize,
    crc32: u32,
}

impl DataDir {
    /// Creates the directory, or sees that an existing one is of this program. Changes nothing in
    /// it.
    ///
    /// # Errors
    /// [`DataDirError::Io`], [`DataDirError::Foreign`] or [`DataDirError::NoStore`].
    pub fn open(path: &Path) -> Result<Self, DataDirError> {
        let directory = Self(path.to_owned());
        fs::create_dir_all(path).map_err(directory.failed("create it"))?;
        for entry in fs::read_dir(path).map_err(directory.failed("list it"))? {
            let name = entry.map_err(directory.failed("list it"))?.file_name();
            let known = [STORE, LEDGER, STOCK, REQUESTS, NOTE, NEW_NOTE]
                .iter()
                .any(|known| name == *known);
            if !known && !directory.path(NOTE).exists() {
                let found = name.to_string_lossy().into_owned();
                return Err(DataDirError::Foreign {
                    path: path.to_owned(),
                    found,
                });
            }
        }
        // The note is written with the store there, and the world outside acts after the note:
        // without the store it would be asked for everything again.
        if directory.path(NOTE).exists() && !directory.store().exists() {
            return Err(DataDirError::NoStore(path.to_owned()));
        }
        Ok(directory)
    }

    /// Notes that the directory belongs to these orders, or sees that it does. Call it with the
    /// store in the directory locked.
    ///
    /// # Errors
    /// [`DataDirError`].
    pub fn claim(&self, orders: &Path, bytes: &[u8]) -> Result<(), DataDirError> {
        let note = Note {
            orders: orders.display().to_string(),
            bytes: bytes.len(),
            crc32: crc32fast::hash(bytes),
        };
        let path = self.path(NOTE);
        match fs::read(&path) {
            Ok(text) => match serde_json::from_slice::<Note>(&text) {
                Ok(old) if (old.bytes, old.crc32) == (note.bytes, note.crc32) => Ok(()),
                Ok(old) => Err(DataDirError::OtherOrders {
                    path: self.0.clone(),
                    theirs: old.orders,
                }),
                Err(error) => Err(self.failed("understand orders.json in it")(error.into())),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let new = self.path(NEW_NOTE);
                serde_json::to_vec(&note)
                    .map_err(io::Error::from)
                    .and_then(|text| {
                        let mut file = File::create(&new)?;
                        file.write_all(&text)?;
                        file.sync_all()?;
                        fs::rename(&new, &path)
                    })
                    .map_err(self.failed("write orders.json into it"))?;
                Ok(sync_directory(&self.0)?)
            }
            Err(error) => Err(self.failed("read orders.json in it")(error)),
        }
    }

    /// The executions.
    #[must_use]
    pub fn store(&self) -> PathBuf {
        self.path(STORE)
    }

    /// The gateway's ledger.
    #[must_use]
    pub fn ledger(&self) -> PathBuf {
        self.path(LEDGER)
    }

    /// The warehouse.
    #[must_use]
    pub fn stock(&self) -> PathBuf {
        self.path(STOCK)
    }

    /// Every request that reached the gateway or the warehouse.
    #[must_use]
    pub fn requests(&self) -> PathBuf {
        self.path(REQUESTS)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn failed<'a>(&'a self, action: &'static str) -> impl Fn(io::Error) -> DataDirError + use<'a> {
        move |source| DataDirError::Io {
            path: self.0.clone(),
            action,
            source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_belongs_to_one_file_of_orders() {
        let parent = tempfile::tempdir().expect("a directory");
        let path = parent.path().join("a/b");
        for _ in 0..2 {
            let directory = DataDir::open(&path).expect("ours");
            fs::create_dir_all(directory.store()).expect("created");
            directory.claim(Path::new("one.csv"), b"one").expect("ours");
        }
        let directory = DataDir::open(&path).expect("ours");
        let error = directory
            .claim(Path::new("two.csv"), b"two")
            .expect_err("other orders")
            .to_string();
        assert!(
            error.contains("belongs to other orders (one.csv)"),
            "{error}"
        );
        fs::write(path.join("note.txt"), "x").expect("written");
        DataDir::open(&path).expect("a stray file in our directory does no harm");
    }

    #[test]
    fn a_directory_of_somebody_else_is_left_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("thesis.txt"), "x").expect("written");
        let error = DataDir::open(directory.path())
            .expect_err("foreign")
            .to_string();
        assert!(
            error.contains("holds thesis.txt, which is not of this program"),
            "{error}"
        );
    }

    #[test]
    fn a_run_without_its_executions_is_not_begun_again() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join(NOTE), "{}").expect("written");
        let error = DataDir::open(directory.path()).expect_err("no store");
        assert!(matches!(error, DataDirError::NoStore(_)), "{error}");
    }

    #[test]
    fn a_run_killed_before_its_note_is_taken_up() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::create_dir(directory.path().join(STORE)).expect("created");
        fs::write(directory.path().join(NEW_NOTE), "{").expect("written");
        DataDir::open(directory.path())
            .expect("ours")
            .claim(Path::new("one.csv"), b"one")
            .expect("ours");
    }

    #[test]
    fn what_is_no_directory_is_an_error_that_names_it() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let error = DataDir::open(file.path()).expect_err("a file").to_string();
        assert!(
            error.starts_with(&file.path().display().to_string()),
            "{error}"
        );
    }
}
