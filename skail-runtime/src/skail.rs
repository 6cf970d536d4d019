//! The builder and the handle of a running Skail.
//!
//! Owns the life of one engine: what it is made of, its start, its shutdown. Must never look into an
//! execution.

mod builder;
mod start;
mod verify;

use std::fmt;
use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use crate::clock::Timestamp;
use crate::engine::{DependencyStatus, FunctionCall, Shared};
use crate::execution::{Execution, ExecutionError};
use crate::history::Status;
use crate::ids::ExecutionId;
use crate::store::{Count, Found, Header, Page, Query, Search, StoreError};

pub use builder::{BuildError, Builder};
pub use start::{Start, StartError};
pub use verify::{Diverging, ReplayError, Verification, VerifyError};

/// A running engine: starts executions and works on every unfinished one of its store.
///
/// Cloning it gives another handle of the same engine. When the last handle is dropped without a
/// [`shutdown`](Self::shutdown), the work stops at once, as in a crash: nothing recorded is lost, and the
/// next start takes everything up again.
#[derive(Clone)]
pub struct Skail {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    /// Until it has ended.
    engine: Mutex<Option<JoinHandle<Result<(), StoreError>>>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(engine) = self.engine.get_mut().take() {
            engine.abort();
        }
        self.shared.waiters.close(&StoreError::Closed);
    }
}

impl Skail {
    /// Begins to put an engine together.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Starts an execution of `call`. Await what it returns; before that it can be given an
    /// [id](Start::id), [tags](Start::tag) and a [delay](Start::delay).
    ///
    /// Once awaited, the start is durable: a crash right after does not forget it.
    ///
    /// ```
    /// # use skail_runtime::prelude::*;
    /// # use std::time::Duration;
    /// #[skail_function]
    /// async fn remind(customer: u32) -> anyhow::Result<()> {
    ///     # let _ = customer;
    ///     Ok(())
    /// }
    ///
    /// async fn remind_tomorrow(skail: &Skail) -> anyhow::Result<Execution<()>> {
    ///     let reminder = skail
    ///         .start(remind(17))
    ///         .id("reminder-17")
    ///         .tag("customer", "17")
    ///         .delay(Duration::from_secs(24 * 3600))
    ///         .await?;
    ///     Ok(reminder)
    /// }
    /// ```
    pub fn start<T>(&self, call: FunctionCall<T>) -> Start<'_, T> {
        Start::new(&self.inner.shared, call)
    }

    /// The handle of an execution that was started before, by whomever. `T` is what its function returns
    /// in `Ok`; whether it is, shows when the [result](Execution::result) is read.
    ///
    /// ```
    /// # use skail_runtime::prelude::*;
    /// async fn outcome(skail: &Skail) -> anyhow::Result<String> {
    ///     let order = skail.execution("order-42").await?;
    ///     Ok(order.result().await?)
    /// }
    /// ```
    ///
    /// # Errors
    /// [`ExecutionError::Unknown`] if there is none, [`ExecutionError::Id`] if there can be none of that
    /// id; [`ExecutionError::Store`].
    pub async fn execution<T>(&self, id: impl AsRef<str>) -> Result<Execution<T>, ExecutionError> {
        let id = ExecutionId::new(id)?;
        let shared = &self.inner.shared;
        match shared.store.header(&id).await? {
            Some(_) => Ok(Execution::new(id, Arc::clone(shared), None)),
            None => Err(ExecutionError::Unknown { execution: id }),
        }
    }

    /// One page of the executions in the store, in the order of their ids.
    ///
    /// ```
    /// use skail_runtime::history::Status;
    /// use skail_runtime::store::Query;
    /// # use skail_runtime::prelude::*;
    ///
    /// async fn resume_what_failed(skail: &Skail) -> anyhow::Result<()> {
    ///     let mut query = Query { status: Some(Status::Failed), limit: 100, ..Query::default() };
    ///     loop {
    ///         let page = skail.list(query.clone()).await?;
    ///         for header in page.headers {
    ///             println!("{}: {}", header.id, header.problem.unwrap_or_default());
    ///             skail.execution::<()>(&header.id).await?.resume().await?;
    ///         }
    ///         match page.next {
    ///             Some(next) => query.after = Some(next),
    ///             None => return Ok(()),
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn list(&self, query: Query) -> Result<Page, StoreError> {
        self.inner.shared.store.list(query).await
    }

    /// One page of the executions that a search finds, newest first: by status, function, id, time, tag and
    /// words. Made for people who look; to walk through all executions, take [`list`](Self::list).
    ///
    /// ```
    /// use skail_runtime::history::Status;
    /// use skail_runtime::store::Search;
    /// # use skail_runtime::prelude::*;
    ///
    /// async fn what_went_wrong(skail: &Skail, customer: &str) -> anyhow::Result<Option<String>> {
    ///     let search = Search {
    ///         status: Some(Status::Failed),
    ///         tag: Some(("customer".to_owned(), customer.to_owned())),
    ///         ..Search::default()
    ///     };
    ///     let newest = skail.find(search).await?.headers.into_iter().next();
    ///     Ok(newest.and_then(|header| header.problem))
    /// }
    /// ```
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn find(&self, search: Search) -> Result<Found, StoreError> {
        self.inner.shared.store.find(search).await
    }

    /// How many executions there are, by function and status. Costs no look at an execution.
    ///
    /// ```
    /// # use skail_runtime::prelude::*;
    /// use skail_runtime::history::Status;
    ///
    /// async fn failed(skail: &Skail) -> anyhow::Result<u64> {
    ///     let counts = skail.counts().await?;
    ///     let failed = counts.iter().filter(|count| count.status == Status::Failed);
    ///     Ok(failed.map(|count| count.executions).sum())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn counts(&self) -> Result<Vec<Count>, StoreError> {
        self.inner.shared.store.counts().await
    }

    /// The recorded names of the functions that this process can run. Executions of others stay as they
    /// are until a process that has their function opens the store.
    #[must_use]
    pub fn functions(&self) -> Arc<[String]> {
        self.inner.shared.registry.function_names()
    }

    /// The unfinished executions whose function this process does not have. They stay as they are, and
    /// take nothing down with them, until a process that has the function opens the store.
    ///
    /// Reads all unfinished headers: for a look by hand, or once after a start.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn unregistered(&self) -> Result<Vec<Header>, StoreError> {
        let registry = &self.inner.shared.registry;
        let mut query = Query {
            status: Some(Status::Running),
            limit: 512,
            ..Query::default()
        };
        let mut found = Vec::new();
        loop {
            let page = self.inner.shared.store.list(query.clone()).await?;
            let without = |header: &Header| registry.function(&header.function).is_none();
            found.extend(page.headers.into_iter().filter(without));
            match page.next {
                Some(after) => query.after = Some(after),
                None => return Ok(found),
            }
        }
    }

    /// Where a dependency stands in this engine: its breaker, its budget, who waits, what it has been
    /// through. `None` if no command names it and the builder does not either.
    #[must_use]
    pub fn dependency(&self, name: &str) -> Option<DependencyStatus> {
        let shared = &self.inner.shared;
        shared.dependencies.status(name, shared.clock.now())
    }

    /// Where all dependencies of this engine stand, by name; see [`dependency`](Self::dependency).
    #[must_use]
    pub fn dependencies(&self) -> Vec<(String, DependencyStatus)> {
        let shared = &self.inner.shared;
        shared.dependencies.statuses(shared.clock.now())
    }

    /// What time it is for this engine: what the times in headers and histories are compared with.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.inner.shared.clock.now()
    }

    /// Stops in good order: nothing new begins, running commands may end within the grace period and
    /// have their results recorded, leases are given back, the store is closed.
    ///
    /// Waiting executions go on with the next start. A call that was given up, by a timeout for instance,
    /// can be made again; one more after the end does nothing.
    ///
    /// # Errors
    /// [`StoreError`] if the store had stopped before, or cannot be closed.
    pub async fn shutdown(&self) -> Result<(), StoreError> {
        let mut engine = self.inner.engine.lock().await;
        if let Some(running) = engine.as_mut() {
            self.inner.shared.stopping.send_replace(true);
            let ended = running.await;
            *engine = None;
            match ended {
                Ok(ended) => ended?,
                Err(error) if error.is_panic() => {
                    tracing::error!(%error, "the scheduler panicked; this is a defect in Skail");
                }
                Err(_) => {}
            }
        }
        // Also when it was closed before: that call may have been given up on the way, or have failed.
        self.inner.shared.store.close().await
    }

    /// Stops at once, as a crash would, and returns when nothing runs any more. For tests.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub async fn kill(&self) {
        let engine = self.inner.engine.lock().await.take();
        if let Some(engine) = engine {
            engine.abort();
            let _ = engine.await;
            self.inner.shared.waiters.close(&StoreError::Closed);
        }
    }
}

impl fmt::Debug for Skail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Skail")
            .field("store", &self.inner.shared.store)
            .field("functions", &self.inner.shared.registry.function_names())
            .finish()
    }
}
