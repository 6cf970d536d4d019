//! A record of everything that was asked of the world outside: each command that reached the
//! gateway or the warehouse, with its key and its attempt, in the order in which it came.
//!
//! Nothing decides by this log. It is the witness: whoever wants to know whether a finished command
//! was run again after a crash reads it here. So an entry is written *before* the request has any
//! effect; it is not synced, because a killed process takes no written line with it. It must never
//! be asked whether money moved; the gateway's ledger says that.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::json_lines::{self, LogError};

/// Who asks: a command's idempotency key, the same in all its attempts, and which attempt this is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The key.
    pub key: String,
    /// The attempt, counted from 1.
    pub attempt: u32,
}

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// What was asked for: `reserve`, `release`, `ship`, `charge`, `refund`, `void`.
    pub operation: String,
    /// For which invoice.
    pub invoice: String,
    /// The command's idempotency key.
    pub key: String,
    /// The command's attempt, counted from 1.
    pub attempt: u32,
    /// What the gateway did instead of a plain answer, if faults are on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Whether the gateway had carried out this key before, and so only repeated its answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub duplicate: bool,
}

/// How much was asked for, since the log was begun.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Different commands.
    pub commands: usize,
    /// Attempts of them.
    pub attempts: usize,
    /// Charges that the gateway had carried out before.
    pub duplicate_charges: usize,
}

/// The log.
#[derive(Debug)]
pub struct RequestLog {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    keys: HashSet<String>,
    counts: Counts,
}

impl RequestLog {
    /// Opens or creates the log.
    ///
    /// # Errors
    /// As [`json_lines::open`].
    pub fn open(path: &Path) -> Result<Self, LogError> {
        let (file, old) = json_lines::open::<Request>(path)?;
        let mut state = State {
            file,
            keys: HashSet::new(),
            counts: Counts::default(),
        };
        old.into_iter().for_each(|request| state.count(request));
        Ok(Self {
            path: path.to_owned(),
            state: Mutex::new(state),
        })
    }

    /// Writes a request down. Call it before acting on the request.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn record(&self, request: Request) -> Result<(), LogError> {
        let failed = |error| LogError::io(&self.path, "write it")(error);
        let mut line = serde_json::to_vec(&request).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        let mut state = self.state();
        // One write call for the whole line: a kill leaves all of it or nothing.
        state.file.write_all(&line).map_err(failed)?;
        state.count(request);
        Ok(())
    }

    /// What was counted so far, earlier runs of the program included.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.state().counts
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic under this lock leaves a count behind at worst.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn count(&mut self, request: Request) {
        self.counts.attempts += 1;
        self.counts.duplicate_charges +=
            usize::from(request.duplicate && request.operation == "charge");
        self.counts.commands += usize::from(self.keys.insert(request.key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_go_on_where_the_last_run_ended() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("requests.jsonl");
        for run in 1..=2 {
            let log = RequestLog::open(&path).expect("opens");
            for (key, duplicate) in [("charge-1", false), ("charge-1", true), ("charge-2", false)] {
                let (operation, invoice) = ("charge".to_owned(), "1".to_owned());
                let request = Request {
                    operation,
                    invoice,
                    key: key.into(),
                    attempt: 1,
                    fault: None,
                    duplicate,
                };
                log.record(request).expect("written");
            }
            assert_eq!(
                log.counts(),
                Counts {
                    commands: 2,
                    attempts: 3 * run,
                    duplicate_charges: run
                }
            );
        }
    }
}
