//! Old histories against the code of today: one by hand, or all that a store holds unfinished.
//!
//! Owns what is asked and how it is told; the engine's rehearsal does it. Must never write to a store.

use std::fmt;

use super::Builder;
use super::builder::BuildError;
use crate::engine::{Rehearsal, Unplayable, Verdict};
use crate::history::{ExportedHistory, Status};
use crate::ids::ExecutionId;
use crate::store::{Header, Query, Store, StoreError, whole_history};

/// How many headers are read at a time.
const PAGE: usize = 512;

impl Builder {
    /// Runs the functions of every unfinished execution of the store against their histories, read-only:
    /// no body runs, nothing of an execution is written, no lease is taken. Tells which executions this
    /// build would block, and why, in the words in which it would. Run it with the new build before that
    /// goes to work.
    ///
    /// Whatever is blocked already and would go on with this build is listed too: resume it.
    ///
    /// The builder is the one that would [start](Self::start) the engine. The store is closed at the end,
    /// in good order. One that a single process holds has to be free: run this before the start, or on a
    /// copy.
    ///
    /// ```
    /// # use skail_runtime::prelude::*;
    /// # use skail_runtime::store::Store;
    /// async fn gate(store: impl Store) -> anyhow::Result<()> {
    ///     let verification = Skail::builder().store(store).verify().await?;
    ///     println!("{verification}");
    ///     anyhow::ensure!(verification.is_clean(), "this build must not be deployed");
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`VerifyError::Build`] as [`start`](Self::start); [`VerifyError::Store`] if the store cannot be
    /// read. An execution that alone cannot be read is no error of this: it is listed.
    pub async fn verify(mut self) -> Result<Verification, VerifyError> {
        let store = self.take_store()?;
        let found = match Rehearsal::new(|pad| self.assemble(pad)) {
            Ok(mut rehearsal) => Verification::of(&*store, &mut rehearsal)
                .await
                .map_err(VerifyError::from),
            Err(error) => Err(error.into()),
        };
        // Dropped as it is, the store would take this for a crash.
        let closed = store.close().await;
        let found = found?;
        closed?;
        Ok(found)
    }

    /// Runs the function of an [exported](crate::Execution::export) history against it: no body runs. A
    /// history that has ended must come to the same result; one that had not must be agreed with as far as
    /// it goes; of one that is blocked it is told whether it would go on now. Needs no store.
    ///
    /// In tests, `testing::replay` does without the state of commands.
    ///
    /// # Errors
    /// [`ReplayError::Diverges`] with the message that an execution with this history would be blocked
    /// with. [`ReplayError::Build`] as [`start`](Self::start). Else what is wrong with the history.
    pub async fn replay(self, history: &ExportedHistory) -> Result<(), ReplayError> {
        let execution = history.execution();
        let mut rehearsal = Rehearsal::new(|pad| self.assemble(pad))?;
        let played = rehearsal.run(execution, history.events().to_vec()).await;
        let execution = execution.clone();
        match played {
            Ok(Verdict::Agree) => Ok(()),
            Ok(Verdict::Differ(reason)) => Err(ReplayError::Diverges {
                execution,
                message: reason.message,
            }),
            Err(Unplayable::Unregistered(function)) => Err(ReplayError::Unregistered {
                execution,
                function,
            }),
            Err(unplayable) => Err(ReplayError::Damaged {
                execution,
                reason: told(unplayable),
            }),
        }
    }
}

fn told(unplayable: Unplayable) -> String {
    match unplayable {
        Unplayable::Unregistered(function) => format!("no function `{function}` is registered"),
        Unplayable::Damaged(error) => error.to_string(),
        Unplayable::Headless => "the history does not begin with a start".to_owned(),
        Unplayable::Broken(stop) => format!("its replay broke off: {stop:?}"),
    }
}

/// An execution that this build would block.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diverging {
    /// The execution.
    pub execution: ExecutionId,
    /// The recorded name of its function.
    pub function: String,
    /// What it would be blocked with: what, where, and the ways out.
    pub message: String,
    /// Whether it is blocked already: then this build does no harm, and no good either.
    pub blocked: bool,
}

/// What [`Builder::verify`] found. Shown with `{}` it is a report for people.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Verification {
    /// How many executions were looked at.
    pub checked: u64,
    /// Those that this build would block, or leave blocked.
    pub diverging: Vec<Diverging>,
    /// Those that are blocked, and would go on with this build once they are resumed.
    pub resumable: Vec<ExecutionId>,
    /// Those whose function this build does not have, with its recorded name: they would stay as they are.
    pub unregistered: Vec<(ExecutionId, String)>,
    /// Those that cannot be read, and why.
    pub unreadable: Vec<(ExecutionId, String)>,
}

impl Verification {
    /// Whether this build takes up all that runs: nothing that is not blocked already would be blocked, is
    /// without its function, or cannot be read.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.diverging.iter().all(|diverging| diverging.blocked)
            && self.unregistered.is_empty()
            && self.unreadable.is_empty()
    }

    async fn of(store: &dyn Store, rehearsal: &mut Rehearsal) -> Result<Self, StoreError> {
        let mut found = Self::default();
        for status in [Status::Running, Status::Blocked] {
            let mut query = Query {
                status: Some(status),
                limit: PAGE,
                ..Query::default()
            };
            loop {
                let page = store.list(query.clone()).await?;
                for header in page.headers {
                    found.look_at(store, rehearsal, header).await?;
                }
                found.unreadable.extend(page.damaged.into_iter().map(|id| {
                    let what = format!("the header of execution `{id}` cannot be read");
                    (id, what)
                }));
                match page.next {
                    Some(next) => query.after = Some(next),
                    None => break,
                }
            }
        }
        found.unreadable.sort();
        found.unreadable.dedup();
        Ok(found)
    }

    async fn look_at(
        &mut self,
        store: &dyn Store,
        rehearsal: &mut Rehearsal,
        header: Header,
    ) -> Result<(), StoreError> {
        let Header { id, function, .. } = header;
        let blocked = header.status == Status::Blocked;
        self.checked += 1;
        let events = match whole_history(store, &id).await {
            Ok(events) => events,
            Err(error @ StoreError::Damaged { .. }) => {
                self.unreadable.push((id, error.to_string()));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        match rehearsal.run(&id, events).await {
            Ok(Verdict::Agree) if blocked => self.resumable.push(id),
            Ok(Verdict::Agree) => {}
            Ok(Verdict::Differ(reason)) => self.diverging.push(Diverging {
                execution: id,
                function,
                message: reason.message,
                blocked,
            }),
            Err(Unplayable::Unregistered(function)) => self.unregistered.push((id, function)),
            Err(unplayable) => self.unreadable.push((id, told(unplayable))),
        }
        Ok(())
    }
}

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} unfinished executions were replayed", self.checked)?;
        let (old, new): (Vec<_>, Vec<_>) = self
            .diverging
            .iter()
            .partition(|diverging| diverging.blocked);
        let diverging =
            |diverging: &&Diverging| format!("`{}`: {}", diverging.execution, diverging.message);
        let with = |(id, what): &(ExecutionId, String)| format!("`{id}`: {what}");
        let sections = [
            (
                "would be blocked by this build",
                new.iter().map(diverging).collect::<Vec<_>>(),
            ),
            (
                "have a function that this build does not have",
                self.unregistered.iter().map(with).collect(),
            ),
            ("cannot be read", self.unreadable.iter().map(with).collect()),
            (
                "are blocked and would stay so",
                old.iter().map(diverging).collect(),
            ),
            (
                "are blocked and would go on when resumed",
                self.resumable.iter().map(|id| format!("`{id}`")).collect(),
            ),
        ];
        for (what, lines) in sections.iter().filter(|(_, lines)| !lines.is_empty()) {
            write!(f, "\n{} {what}:", lines.len())?;
            for line in lines {
                write!(f, "\n  {line}")?;
            }
        }
        if self.is_clean() {
            f.write_str("\nthis build takes up all that runs")?;
        }
        Ok(())
    }
}

/// Why a store could not be verified.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The engine could not be put together.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The store's fault.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a history was not replayed to its end.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// Code and history disagree.
    #[error("execution `{execution}` does not fit this build: {message}")]
    Diverges {
        /// The execution.
        execution: ExecutionId,
        /// What, where, and the ways out.
        message: String,
    },
    /// There is no such function in this build.
    #[error(
        "execution `{execution}` is one of `{function}`, and no function of that name is registered: give \
         the function that it became `name = \"{function}\"`, or keep the old one until its executions have \
         ended"
    )]
    Unregistered {
        /// The execution.
        execution: ExecutionId,
        /// The recorded name of its function.
        function: String,
    },
    /// The history cannot have happened.
    #[error("the history of execution `{execution}` cannot be replayed: {reason}")]
    Damaged {
        /// The execution.
        execution: ExecutionId,
        /// What was seen.
        reason: String,
    },
    /// The engine could not be put together.
    #[error(transparent)]
    Build(#[from] BuildError),
}
