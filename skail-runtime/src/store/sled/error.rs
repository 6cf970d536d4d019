//! Why a store cannot be opened, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// A store that cannot be opened. Nothing in it was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The path names a file.
    #[error("the store `{}` is a file, not a directory; name a directory that is empty or not there yet", .path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// The directory holds something else.
    #[error(
        "`{}` is not a Skail store: it holds `{found}` and no marker of ours; name a directory that is empty or not there yet",
        .path.display()
    )]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// One of the things in it.
        found: String,
    },
    /// There is no store to be rewritten.
    #[error("there is no Skail store in `{}`; name the directory that the store was opened with", .path.display())]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// Another opening holds the directory.
    #[error(
        "the store `{}` is held by {}; one process owns a store, so stop that one first or name another directory",
        .path.display(), held_by(*.holder)
    )]
    Held {
        /// The directory.
        path: PathBuf,
        /// The process that holds it, if it could be read.
        holder: Option<u32>,
    },
    /// A file or directory of the store cannot be used.
    #[error("`{}` cannot be {action}: {source}; check that the directory is there and yours, and that the disk has room", .path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A newer release wrote the store.
    #[error(
        "`{}` says format {found}, and this release knows formats up to {supported}; use the release that wrote it",
        .path.display()
    )]
    Format {
        /// The marker.
        path: PathBuf,
        /// The format found.
        found: u32,
        /// The newest that this release reads.
        supported: u32,
    },
    /// The store cannot be read.
    #[error("`{}` cannot be read: {reason}; restore the directory from a backup", .path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The tree has lost what the side file knows of.
    #[error(
        "the store `{}` has lost acknowledged work: {reason}; the disk or a copy did not keep what was synced. Restore the whole directory from a backup",
        .path.display()
    )]
    Lost {
        /// The directory.
        path: PathBuf,
        /// What was expected and found.
        reason: String,
    },
    /// The disk cannot be written so that a power cut spares it.
    #[error(
        "the store `{}` cannot promise that what it acknowledges survives a power cut: this program's `sync_file_range` is not ours, so sled's weak one is in use. Link skail-runtime statically, or open with `Durability::Process`",
        .path.display()
    )]
    WeakSync {
        /// The directory.
        path: PathBuf,
    },
}

impl OpenError {
    pub(super) fn io(path: &Path, action: &'static str, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            action,
            source,
        }
    }
}

fn held_by(process: Option<u32>) -> String {
    match process {
        Some(id) if id == std::process::id() => format!("this process ({id})"),
        Some(id) => format!("process {id}"),
        None => "another process".to_owned(),
    }
}
