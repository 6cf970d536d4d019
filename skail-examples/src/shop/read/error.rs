//! Every complaint about a file of orders.
//!
//! Each one names the file, the line and the column as far as there are such, and what to do. It
//! must never be about the business.

use std::io;
use std::path::PathBuf;

use super::COLUMNS;

/// Why a file of orders was not taken.
#[derive(Debug, thiserror::Error)]
pub enum OrdersError {
    /// There is no such file.
    #[error("{}: there is no such file; name the file of orders with --orders FILE", .0.display())]
    NotFound(PathBuf),
    /// The file is there but cannot be read.
    #[error("{}: cannot be read ({source}); see that it is a file and that this user may read it", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// No header, or a header and nothing under it.
    #[error("{}: holds no orders; it needs a header ({}) and a line for each article", .0.display(), COLUMNS.join(","))]
    Empty(PathBuf),
    /// The header lacks columns.
    #[error("{}:1: the header lacks {}; it holds {found}", path.display(), missing.join(", "))]
    MissingColumn {
        /// The file.
        path: PathBuf,
        /// The columns that are missing.
        missing: Vec<&'static str>,
        /// The header as it is.
        found: String,
    },
    /// A field that should be a number is none.
    #[error("{}:{line}: {column} is \"{text}\", which is not {expected}; correct the line and start again", path.display())]
    BadNumber {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The column's name.
        column: &'static str,
        /// What stands there.
        text: String,
        /// What should stand there.
        expected: &'static str,
    },
    /// A field that names something is blank.
    #[error("{}:{line}: {column} is blank; fill it in and start again", path.display())]
    Blank {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The column's name.
        column: &'static str,
    },
    /// A line that is no record: too many or too few fields, or not UTF-8.
    #[error("{}:{line}: {problem}; correct the line and start again", path.display())]
    BadRecord {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
}
