//! The handle of one execution.
//!
//! Owns how a user waits for, looks at and resumes an execution. Must never change a history: it asks
//! through the inbox.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::codec::{Payload, PayloadError};
use crate::engine::{Ending, Shared, Waiter};
use crate::error::Failure;
use crate::history::{AcceptedArguments, Event, ExportedHistory, Status};
use crate::ids::{ExecutionId, InvalidId, Sequence};
use crate::store::{Header, Message, Sent, StoreError, whole_history};

/// One execution: wait for its result, look at it, resume it.
///
/// The handle owns nothing; dropping it changes nothing. `T` is the type of the function's result.
pub struct Execution<T> {
    id: ExecutionId,
    shared: Arc<Shared>,
    /// Registered before the execution was created, so that its ending cannot be missed.
    ended: tokio::sync::Mutex<Option<Waiter>>,
    result: PhantomData<fn() -> T>,
}

impl<T> Execution<T> {
    pub(crate) fn new(id: ExecutionId, shared: Arc<Shared>, ended: Option<Waiter>) -> Self {
        Self {
            id,
            shared,
            ended: tokio::sync::Mutex::new(ended),
            result: PhantomData,
        }
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> &ExecutionId {
        &self.id
    }

    /// What is known of it without its history: status, function, times, tags, and the error in short.
    ///
    /// # Errors
    /// [`ExecutionError::Unknown`] if the execution was deleted; [`ExecutionError::Store`].
    pub async fn header(&self) -> Result<Header, ExecutionError> {
        let header = self.shared.store.header(&self.id).await?;
        header.ok_or_else(|| ExecutionError::Unknown {
            execution: self.id.clone(),
        })
    }

    /// Where it stands.
    ///
    /// # Errors
    /// As [`header`](Self::header).
    pub async fn status(&self) -> Result<Status, ExecutionError> {
        Ok(self.header().await?.status)
    }

    /// Everything that was recorded of it, oldest first.
    ///
    /// # Errors
    /// [`ExecutionError::Store`], also when a record is damaged.
    pub async fn history(&self) -> Result<Vec<Event>, ExecutionError> {
        Ok(whole_history(&*self.shared.store, &self.id).await?)
    }

    /// A part of what was recorded of it: at most `limit` events from the place `from` on, oldest first, for
    /// those who show a history of any length. Fewer than `limit`: there are no more for now.
    ///
    /// ```
    /// # use skail_runtime::prelude::*;
    /// use skail_runtime::Sequence;
    ///
    /// async fn first_page(order: &Execution<String>) -> anyhow::Result<()> {
    ///     for event in order.events(Sequence(0), 100).await? {
    ///         println!("{event:?}");
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`history`](Self::history).
    pub async fn events(&self, from: Sequence, limit: usize) -> Result<Vec<Event>, ExecutionError> {
        Ok(self.shared.store.history(&self.id, from, limit).await?)
    }

    /// Everything that was recorded of it, to be kept as JSON and [replayed](crate::Builder::replay) against
    /// a later build: a finished execution is a test of what comes after it.
    ///
    /// # Errors
    /// As [`history`](Self::history); [`ExecutionError::Unknown`] if the execution was deleted.
    pub async fn export(&self) -> Result<ExportedHistory, ExecutionError> {
        self.header().await?;
        Ok(ExportedHistory::new(self.id.clone(), self.history().await?))
    }

    /// Lets a failed or blocked execution go on: with fresh attempts, and without running a finished
    /// step again. Await it; see [`Resume`].
    ///
    /// ```
    /// # use skail_runtime::prelude::*;
    /// async fn once_the_gateway_is_back(skail: &Skail, id: &ExecutionId) -> anyhow::Result<String> {
    ///     let order = skail.execution::<String>(id).await?;
    ///     order.resume().await?;
    ///     Ok(order.result().await?)
    /// }
    /// ```
    pub fn resume(&self) -> Resume<'_> {
        Resume {
            id: &self.id,
            shared: &self.shared,
            accept_changed_arguments: false,
        }
    }
}

impl<T> Execution<T> {
    /// Takes the execution out of the store, with its history and its result. It must have come to rest
    /// (completed, failed or blocked); its id is free then, and a start under it does the work anew.
    ///
    /// [`Builder::keep_completed`](crate::Builder::keep_completed) does this by itself.
    ///
    /// # Errors
    /// [`ExecutionError::NotDeletable`] if it is not at rest, or was resumed;
    /// [`ExecutionError::Unknown`] if it is not there; [`ExecutionError::Store`].
    pub async fn delete(&self) -> Result<(), ExecutionError> {
        let header = self.header().await?;
        let store = &self.shared.store;
        if header.is_deletable() && store.delete(vec![self.id.clone()]).await? > 0 {
            return Ok(());
        }
        // Running, or about to; or somebody else was quicker.
        let status = self.header().await?.status;
        Err(ExecutionError::NotDeletable {
            execution: self.id.clone(),
            status,
        })
    }
}

impl<T: DeserializeOwned> Execution<T> {
    /// Waits until the execution is at rest and gives its result.
    ///
    /// It can be called again, from any handle, in any process: the result is in the store.
    ///
    /// # Errors
    /// [`ExecutionError::Failed`] when its attempts are spent and [`ExecutionError::Blocked`] when code
    /// and history disagree: either can be [resumed](Self::resume), so the error is of now and not for
    /// ever. [`ExecutionError::Result`] if the result is not a `T`. [`ExecutionError::Store`] if the store
    /// stopped or a record is damaged.
    pub async fn result(&self) -> Result<T, ExecutionError> {
        if let Some(ended) = self.ended.lock().await.take()
            && let Ok(ending @ Ending::Completed(_)) = ended.await.as_deref()
        {
            return self.give(ending);
        }
        // Anything else may have been told long ago, and the execution been resumed since.
        loop {
            // Registered first and looked after, or an ending in between would be missed.
            let waiting = self.shared.waiters.register(&self.id);
            if let Some(ending) = self.ending().await? {
                return self.give(&ending);
            }
            match waiting.await.as_deref() {
                Ok(Ending::AskTheStore) => {}
                Ok(ending) => return self.give(ending),
                Err(_) => return Err(ExecutionError::Store(StoreError::Closed)),
            }
        }
    }

    /// How it came to rest, if it is.
    async fn ending(&self) -> Result<Option<Ending>, ExecutionError> {
        // The header speaks first: what this process could not work on, another may have ended since.
        let header = self.header().await?;
        let broken = || self.shared.waiters.broken(&self.id).map(Ending::Broken);
        if !header.status.at_rest() {
            return Ok(broken());
        }
        if !header.status.is_final() {
            // A resume that is on its way counts: who resumed and waits wants what comes of it.
            let messages = self.shared.store.inbox(&self.id, 16).await?;
            if messages
                .iter()
                .any(|(_, message)| message.wakes(header.status))
            {
                return Ok(broken());
            }
        }
        Ok(match self.shared.store.last_event(&self.id).await? {
            Some(Event::Completed { result, .. }) => Some(Ending::Completed(result)),
            Some(Event::FunctionAttemptFailed {
                attempt,
                failure,
                retry_at: None,
                ..
            }) => Some(Ending::Failed {
                attempts: attempt,
                failure,
            }),
            Some(Event::Blocked { reason, .. }) => Some(Ending::Blocked(reason)),
            // It went on between the two looks.
            _ => None,
        })
    }

    fn give(&self, ending: &Ending) -> Result<T, ExecutionError> {
        let execution = self.id.clone();
        match ending {
            Ending::Completed(payload) => {
                decode(payload).map_err(|error| ExecutionError::Result { execution, error })
            }
            Ending::Failed { attempts, failure } => Err(ExecutionError::Failed {
                execution,
                attempts: *attempts,
                failure: Box::new(failure.clone()),
            }),
            Ending::Blocked(reason) => Err(ExecutionError::Blocked {
                execution,
                message: reason.message.clone(),
            }),
            Ending::Broken(error) => Err(ExecutionError::Store(error.clone())),
            Ending::AskTheStore => Err(ExecutionError::Store(StoreError::Closed)),
        }
    }
}

fn decode<T: DeserializeOwned>(payload: &Payload) -> Result<T, PayloadError> {
    payload.decode()
}

impl<T> fmt::Debug for Execution<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Execution({})", self.id)
    }
}

/// A resume that is being put together; await it to send it.
///
/// Once awaited it is durable: a crash right after does not forget it.
///
/// # Errors
/// Awaited, it gives [`ExecutionError::NotResumable`] for an execution that is neither failed nor blocked,
/// [`ExecutionError::NothingToAccept`], [`ExecutionError::Unknown`] or [`ExecutionError::Store`].
#[must_use = "a resume does nothing until it is awaited"]
#[derive(Debug)]
pub struct Resume<'a> {
    id: &'a ExecutionId,
    shared: &'a Arc<Shared>,
    accept_changed_arguments: bool,
}

impl Resume<'_> {
    /// Accepts, for an execution that is blocked because the arguments of a finished step changed, that
    /// the recorded result holds for the new arguments. Recorded in the history.
    pub fn accept_changed_arguments(mut self) -> Self {
        self.accept_changed_arguments = true;
        self
    }

    async fn send(self) -> Result<(), ExecutionError> {
        let execution = self.id.clone();
        let store = &self.shared.store;
        let header = store
            .header(self.id)
            .await?
            .ok_or_else(|| ExecutionError::Unknown {
                execution: execution.clone(),
            })?;
        if !matches!(header.status, Status::Failed | Status::Blocked) {
            return Err(ExecutionError::NotResumable {
                execution,
                status: header.status,
            });
        }
        let accept = if self.accept_changed_arguments {
            match store.last_event(self.id).await? {
                Some(Event::Blocked { reason, .. }) => reason
                    .position
                    .zip(reason.changed_arguments)
                    .map(|(position, digest)| AcceptedArguments { position, digest }),
                _ => None,
            }
        } else {
            None
        };
        if self.accept_changed_arguments && accept.is_none() {
            return Err(ExecutionError::NothingToAccept { execution });
        }
        let message = Message::Resume {
            accept_changed_arguments: accept,
        };
        match store
            .send(self.id, message, self.shared.clock.now())
            .await?
        {
            Sent::Delivered(_) => Ok(()),
            Sent::Unknown => Err(ExecutionError::Unknown { execution }),
            Sent::Ended(status) => Err(ExecutionError::NotResumable { execution, status }),
        }
    }
}

impl<'a> IntoFuture for Resume<'a> {
    type Output = Result<(), ExecutionError>;
    type IntoFuture = crate::clock::BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

fn counted(attempts: u32) -> String {
    match attempts {
        1 => "1 attempt".to_owned(),
        attempts => format!("{attempts} attempts"),
    }
}

/// Why an execution gave no result, or could not be acted on.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ExecutionError {
    /// Its attempts are spent.
    #[error(
        "execution `{execution}` failed after {}: {failure}; resume it once the cause is gone", counted(*.attempts)
    )]
    Failed {
        /// The execution.
        execution: ExecutionId,
        /// Attempts of the function since the start or the last resume.
        attempts: u32,
        /// What the last one ended with.
        failure: Box<Failure>,
    },
    /// Code and history disagree.
    #[error("execution `{execution}` is blocked: {message}")]
    Blocked {
        /// The execution.
        execution: ExecutionId,
        /// What, where, and the ways out.
        message: String,
    },
    /// Its result is of another type than the handle's.
    #[error("the result of execution `{execution}`: {error}")]
    Result {
        /// The execution.
        execution: ExecutionId,
        /// What was wrong.
        error: PayloadError,
    },
    /// No execution can have such an id.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// There is no such execution.
    #[error("there is no execution `{execution}` in this store")]
    Unknown {
        /// The id asked for.
        execution: ExecutionId,
    },
    /// Only failed and blocked executions can be resumed.
    #[error(
        "execution `{execution}` is {status}; only a failed or blocked execution can be resumed"
    )]
    NotResumable {
        /// The execution.
        execution: ExecutionId,
        /// Where it stands.
        status: Status,
    },
    /// Only executions at rest can be deleted.
    #[error(
        "execution `{execution}` is {status} or was resumed, and stays; only an execution that has come to rest can be deleted"
    )]
    NotDeletable {
        /// The execution.
        execution: ExecutionId,
        /// Where it stands.
        status: Status,
    },
    /// It is not blocked by changed arguments.
    #[error(
        "execution `{execution}` is not blocked by changed arguments, so there are none to accept; resume it without"
    )]
    NothingToAccept {
        /// The execution.
        execution: ExecutionId,
    },
    /// The store's fault.
    #[error(transparent)]
    Store(#[from] StoreError),
}
