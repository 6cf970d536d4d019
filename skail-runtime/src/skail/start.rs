//! Starting an execution: the id is the idempotency key of the start.

use std::collections::BTreeMap;
use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::BoxFuture;
use crate::codec::{Payload, PayloadError};
use crate::engine::{FunctionCall, Shared};
use crate::execution::Execution;
use crate::history::{Event, Status};
use crate::ids::{ExecutionId, InvalidId};
use crate::store::{Created, Header, NewExecution, StoreError};

/// A start that is being put together; await it to start.
///
/// # Errors
/// Awaited, it gives [`StartError`]: an id that cannot be one, an argument that cannot be recorded, an id
/// that is taken by another function or other arguments: nothing was written then. Or a store's fault, after
/// which the execution may be there: start it again with the same id, or without one once you have looked.
#[must_use = "a start does nothing until it is awaited"]
pub struct Start<'a, T> {
    shared: &'a Arc<Shared>,
    call: FunctionCall<T>,
    id: Option<Result<ExecutionId, InvalidId>>,
    tags: BTreeMap<String, String>,
    delay: Duration,
}

impl<'a, T> Start<'a, T> {
    pub(crate) fn new(shared: &'a Arc<Shared>, call: FunctionCall<T>) -> Self {
        Self {
            shared,
            call,
            id: None,
            tags: BTreeMap::new(),
            delay: Duration::ZERO,
        }
    }

    /// The execution's id, 1 to 200 bytes without control characters, and with it the idempotency key of
    /// the start: the same id with the same function and arguments gives the handle of the execution that
    /// is there, running or finished; with others, awaiting the start gives an error.
    /// Without one it gets a UUID version 7.
    pub fn id(mut self, id: impl AsRef<str>) -> Self {
        self.id = Some(ExecutionId::new(id));
        self
    }

    /// Puts a tag on the execution, which its [header](Execution::header) shows. A tag of the same name is
    /// replaced; a start whose id is taken changes nothing.
    pub fn tag(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.tags.insert(name.into(), value.into());
        self
    }

    /// Begins no earlier than this long from now, however often the process restarts meanwhile.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    async fn start(self) -> Result<Execution<T>, StartError> {
        let shared = Arc::clone(self.shared);
        let function = self.call.descriptor.name;
        let id = self.id.unwrap_or_else(|| Ok(ExecutionId::generate()))?;
        let arguments = self
            .call
            .arguments
            .map_err(|(parameter, error)| StartError::Argument {
                function,
                parameter,
                error,
            })?;
        let (size, limit) = (arguments.as_bytes().len(), shared.settings.payload_limit);
        if size > limit {
            let error = PayloadError::TooLarge {
                wanted: "a list of arguments",
                size,
                limit,
            };
            return Err(StartError::Argument {
                function,
                parameter: "(all)",
                error,
            });
        }
        if shared.is_stopping() {
            return Err(StartError::Store(StoreError::Closed));
        }
        let at = shared.clock.now();
        let header = Header {
            id: id.clone(),
            function: function.to_owned(),
            arguments: arguments.digest(),
            status: Status::Running,
            created_at: at,
            updated_at: at,
            due: Some(at.saturating_add(self.delay)),
            tags: self.tags,
            problem: None,
        };
        let first = Event::Started {
            at,
            function: function.to_owned(),
            arguments: arguments.clone(),
        };
        // Registered before the execution exists, so that its ending cannot be missed.
        let ended = shared.waiters.register(&id);
        let digest = header.arguments;
        match shared.store.create(NewExecution { header, first }).await? {
            Created::New => Ok(Execution::new(id, shared, Some(ended))),
            Created::Exists(there) if there.function != function => {
                Err(StartError::OtherFunction {
                    id,
                    there: there.function,
                    asked: function,
                })
            }
            Created::Exists(there) if there.arguments != digest => {
                Err(other_arguments(&shared, id, function, &arguments).await)
            }
            Created::Exists(_) => Ok(Execution::new(id, shared, None)),
        }
    }
}

async fn other_arguments(
    shared: &Shared,
    id: ExecutionId,
    function: &'static str,
    asked: &Payload,
) -> StartError {
    let first = shared.store.history(&id, crate::ids::Sequence(0), 1).await;
    let there = match first.as_deref() {
        Ok([Event::Started { arguments, .. }, ..]) => arguments.preview(200),
        Ok(_) => "(not recorded)".to_owned(),
        Err(error) => format!("(unreadable: {error})"),
    };
    StartError::OtherArguments {
        id,
        function,
        there,
        asked: asked.preview(200),
    }
}

impl<'a, T: Send + 'a> IntoFuture for Start<'a, T> {
    type Output = Result<Execution<T>, StartError>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.start())
    }
}

impl<T> fmt::Debug for Start<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Start")
            .field("call", &self.call)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// Why an execution was not started. Nothing was written, but for a fault of the store.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The id cannot be one.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// An argument cannot be recorded.
    #[error("`{function}` was not started: its argument `{parameter}` cannot be recorded: {error}")]
    Argument {
        /// The function.
        function: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What was wrong.
        error: PayloadError,
    },
    /// The id is taken by an execution of another function.
    #[error(
        "`{asked}` was not started: execution `{id}` is one of `{there}`; an id names one piece of work, so choose another"
    )]
    OtherFunction {
        /// The id.
        id: ExecutionId,
        /// The function of the execution that is there.
        there: String,
        /// The function that was to be started.
        asked: &'static str,
    },
    /// The id is taken by an execution with other arguments.
    #[error(
        "`{function}` was not started: execution `{id}` is there with the arguments {there}, and was now asked for with {asked}; an id names one piece of work, so choose another, or pass the same arguments"
    )]
    OtherArguments {
        /// The id.
        id: ExecutionId,
        /// The function.
        function: &'static str,
        /// The arguments of the execution that is there, shortened.
        there: String,
        /// The arguments that were given, shortened.
        asked: String,
    },
    /// The store's fault. The execution may have been written before it: a start with an id can simply be
    /// tried again.
    #[error(transparent)]
    Store(#[from] StoreError),
}
