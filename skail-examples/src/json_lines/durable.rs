//! A log whose entries are on disk before anybody is told of them.
//!
//! Owns the writing thread and the grouping: whatever was appended while one sync ran goes out with
//! the next one. It must never report an entry as durable that a power cut could take back, and
//! after the first failed write it writes no more, because nobody knows what a failed sync left
//! behind.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use super::{LogError, open};

/// The place of an entry in the log; hand it to [`DurableLog::durable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

impl Ticket {
    /// The ticket of everything that was in the log when it was opened.
    pub const OLD: Self = Self(0);
}

/// An append-only file of JSON lines with grouped syncs.
#[derive(Debug)]
pub struct DurableLog {
    path: PathBuf,
    shared: Arc<Shared>,
    written: watch::Receiver<Result<Ticket, LogError>>,
    writer: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    filled: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    lines: Vec<u8>,
    last: u64,
    closed: bool,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        // No code that can panic runs under this lock.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DurableLog {
    /// Opens or creates the log; the entries that it already holds come with it.
    ///
    /// # Errors
    /// As [`open`](super::open).
    pub fn open<T: DeserializeOwned>(path: &Path) -> Result<(Self, Vec<T>), LogError> {
        let (file, entries) = open(path)?;
        let shared = Arc::new(Shared::default());
        let (progress, written) = watch::channel(Ok(Ticket::OLD));
        let writer = thread::Builder::new()
            .name("json-lines".into())
            .spawn({
                let (shared, path) = (Arc::clone(&shared), path.to_owned());
                move || write(file, &path, &shared, &progress)
            })
            .map_err(LogError::io(path, "start the thread that writes it"))?;
        Ok((
            Self {
                path: path.to_owned(),
                shared,
                written,
                writer: Some(writer),
            },
            entries,
        ))
    }

    /// Puts an entry in line and returns at once. Entries are written in the order of these calls.
    ///
    /// # Errors
    /// [`LogError::Io`] if the entry has no JSON form.
    pub fn append(&self, entry: &impl Serialize) -> Result<Ticket, LogError> {
        let mut line = serde_json::to_vec(entry)
            .map_err(|error| LogError::io(&self.path, "encode an entry for it")(error.into()))?;
        line.push(b'\n');
        let mut queue = self.shared.queue();
        queue.lines.extend(line);
        queue.last += 1;
        self.shared.filled.notify_one();
        Ok(Ticket(queue.last))
    }

    /// Waits until the entry, and with it every earlier one, is on disk.
    ///
    /// # Errors
    /// [`LogError`] if it could not be written; nobody knows then whether it is there.
    pub async fn durable(&self, ticket: Ticket) -> Result<(), LogError> {
        let mut written = self.written.clone();
        let reached = written
            .wait_for(|state| state.as_ref().map_or(true, |&last| last >= ticket))
            .await;
        match reached {
            Ok(state) => state.clone().map(|_| ()),
            Err(_) => Err(LogError::io(&self.path, "write it")(std::io::Error::other(
                "its writer has ended",
            ))),
        }
    }
}

impl Drop for DurableLog {
    /// Writes what is still in line.
    fn drop(&mut self) {
        self.shared.queue().closed = true;
        self.shared.filled.notify_one();
        if let Some(writer) = self.writer.take() {
            // A panic of the writer has been reported by then, to everyone who waited.
            let _ = writer.join();
        }
    }
}

fn write(
    mut file: File,
    path: &Path,
    shared: &Shared,
    progress: &watch::Sender<Result<Ticket, LogError>>,
) {
    loop {
        let (lines, last) = {
            let mut queue = shared.queue();
            while queue.lines.is_empty() && !queue.closed {
                queue = shared
                    .filled
                    .wait(queue)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            if queue.lines.is_empty() {
                return;
            }
            (std::mem::take(&mut queue.lines), queue.last)
        };
        let result = file
            .write_all(&lines)
            .map_err(LogError::io(path, "write it"))
            .and_then(|()| file.sync_data().map_err(LogError::io(path, "sync it")));
        let failed = result.is_err();
        // What it replaces has been seen or is outdated.
        drop(progress.send_replace(result.map(|()| Ticket(last))));
        if failed {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn entries_are_in_the_file_once_they_are_durable_and_there_again_on_opening() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("log");
        let (log, old) = DurableLog::open::<u32>(&path).expect("opens");
        assert!(old.is_empty());
        let tickets: Vec<_> = (0..1000_u32)
            .map(|entry| log.append(&entry).expect("appended"))
            .collect();
        log.durable(tickets[999]).await.expect("written");
        assert_eq!(
            std::fs::read_to_string(&path)
                .expect("read")
                .lines()
                .count(),
            1000
        );
        log.durable(Ticket::OLD).await.expect("nothing to wait for");
        log.append(&1000_u32).expect("appended");
        drop(log);
        let (_, old) = DurableLog::open::<u32>(&path).expect("opens");
        assert_eq!(
            old,
            (0..=1000).collect::<Vec<_>>(),
            "dropping writes what was in line"
        );
    }

    #[tokio::test]
    async fn a_failed_write_is_told_to_everyone_from_then_on() {
        // Every write to this device fails as on a full disk.
        let path = Path::new("/dev/full");
        let file = std::fs::OpenOptions::new()
            .append(true)
            .open(path)
            .expect("opens");
        let shared = Arc::new(Shared::default());
        let (progress, written) = watch::channel(Ok(Ticket::OLD));
        let writer = thread::spawn({
            let shared = Arc::clone(&shared);
            move || write(file, path, &shared, &progress)
        });
        let log = DurableLog {
            path: path.to_owned(),
            shared,
            written,
            writer: Some(writer),
        };
        for _ in 0..2 {
            let ticket = log.append(&1).expect("in line");
            let error = log
                .durable(ticket)
                .await
                .expect_err("a full disk")
                .to_string();
            assert!(
                error.starts_with("/dev/full: cannot write it (No space left"),
                "{error}"
            );
        }
    }
}
