//! How an engine is put together.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Semaphore, watch};

use super::{Inner, Skail};
use crate::clock::{Clock, SystemClock};
use crate::codec::Codec;
use crate::descriptor::{Register, Registration};
use crate::engine::{
    Dependencies, Hooks, MOST_BLOCKING, Scheduler, Settings, Shared, Waiters, Watchdog,
};
use crate::ids::WorkerId;
use crate::registry::{Registry, RegistryError};
use crate::retry::{Backoff, Dependency, InvalidSetting};
use crate::state::StateMap;
use crate::store::{CodedStore, Store};

/// Puts a [`Skail`] together: a store, the shared state of commands, bounds.
///
/// ```standalone_crate
/// use skail_runtime::prelude::*;
/// use skail_runtime::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anyhow::Result<()> {
/// let skail = Skail::builder()
///     .store(MemoryStore::new())
///     .max_running_executions(100)
///     .start()
///     .await?;
/// skail.shutdown().await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a builder does nothing until `.start().await`"]
pub struct Builder {
    store: Option<Arc<dyn Store>>,
    codec: Option<Arc<dyn Codec>>,
    clock: Arc<dyn Clock>,
    state: StateMap,
    doubled_state: Vec<&'static str>,
    explicit: Vec<Registration>,
    dependencies: HashMap<String, Dependency>,
    doubled_dependency: Option<String>,
    settings: Settings,
    seed: Option<u64>,
    hooks: Option<Arc<dyn Hooks>>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            store: None,
            codec: None,
            clock: SystemClock::shared(),
            state: StateMap::default(),
            doubled_state: Vec::new(),
            explicit: Vec::new(),
            dependencies: HashMap::new(),
            doubled_dependency: None,
            settings: Settings::default(),
            seed: None,
            hooks: None,
        }
    }

    /// Where executions are kept. Required.
    pub fn store(mut self, store: impl Store) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// What payloads pass through on their way into the store and back: compression, encryption.
    pub fn codec(mut self, codec: impl Codec) -> Self {
        self.codec = Some(Arc::new(codec));
        self
    }

    /// A value that commands and functions borrow with `#[state] x: &T`. One of each type.
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        if !self.state.insert(value) {
            self.doubled_state.push(std::any::type_name::<T>());
        }
        self
    }

    /// Registers a function or command explicitly, by the type that stands beside it:
    /// `.register::<process_order>()`. Usually not needed, since the attributes register by themselves;
    /// a linker that drops unused object files may make it so.
    pub fn register<R: Register>(mut self) -> Self {
        self.explicit.push(R::REGISTRATION);
        self
    }

    /// The source of time; the machine's clock unless a test sets another.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Makes the jitter of delays repeatable, for tests.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Lets a test reach into the running of bodies, with shared state that outlives this engine.
    #[cfg(feature = "testing")]
    pub(crate) fn hooks(mut self, hooks: Arc<dyn Hooks>, state: &StateMap) -> Self {
        self.hooks = Some(hooks);
        self.state.extend(state);
        self
    }

    /// The most executions in memory at once; others wait in the store. Default 1,000.
    pub fn max_running_executions(mut self, executions: usize) -> Self {
        self.settings.max_executions = executions;
        self
    }

    /// The most command bodies running at once; others wait their turn. Default 1,000.
    ///
    /// Of `blocking` ones no more than 256, whatever is set here. Such a body cannot be stopped: after its
    /// timeout it keeps its place until it returns.
    pub fn max_running_commands(mut self, commands: usize) -> Self {
        self.settings.max_commands = commands;
        self
    }

    /// The largest argument list or result that is recorded, in bytes. Default 4 MiB. A larger one is a
    /// permanent error of the step.
    pub fn payload_limit(mut self, bytes: usize) -> Self {
        self.settings.payload_limit = bytes;
        self
    }

    /// The wait before each further attempt of commands and functions that name no backoff, neither in
    /// their attribute nor for one call. Default [`Backoff::DEFAULT`]: base 500 ms, factor 2, cap 30 s,
    /// full jitter.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.settings.backoff = backoff;
        self
    }

    /// The longest wait that an error may ask for with [`retry_after`](crate::retry_after): longer ones
    /// are cut to it. Default 5 minutes; a command's call can say otherwise.
    pub fn max_retry_after(mut self, longest: Duration) -> Self {
        self.settings.max_retry_after = longest;
        self
    }

    /// What the commands with `dependency = "name"` call: a circuit breaker and a retry budget that they
    /// share in this engine. A dependency that commands name and nobody sets has the
    /// [defaults](Dependency::DEFAULT); one that is set and that no command names is told in the log, in
    /// case one of the two is misspelt.
    pub fn dependency(mut self, name: impl Into<String>, dependency: Dependency) -> Self {
        let name = name.into();
        if self.dependencies.insert(name.clone(), dependency).is_some() {
            self.doubled_dependency = Some(name);
        }
        self
    }

    /// How long an execution that waits stays in memory: for a longer wait its function is dropped, and run
    /// again when the time has come. Default 10 s.
    pub fn warm_period(mut self, period: Duration) -> Self {
        self.settings.warm_period = period;
        self
    }

    /// How long [`Skail::shutdown`] waits for running commands. Default 30 s.
    pub fn shutdown_grace(mut self, grace: Duration) -> Self {
        self.settings.shutdown_grace = grace;
        self
    }

    /// How long a function may compute, or block its thread, before an error is logged that names it. An
    /// `async` function that awaits nothing but calls comes back in microseconds; one that blocks (on a
    /// lock, or by `block_on`) keeps others from running. Default 10 s.
    pub fn poll_patience(mut self, patience: Duration) -> Self {
        self.settings.poll_patience = patience;
        self
    }

    /// How long completed executions stay in the store, counted from their end; for ever unless set.
    /// Then they are deleted in the background, some time after: an eighth of this, at least a second and
    /// at most an hour. Until then the id of a start stands for the work that was done, and results can be
    /// read; after it the same start does the work again. So choose longer than anybody may ask twice.
    pub fn keep_completed(mut self, time: Duration) -> Self {
        self.settings.retention.completed = Some(time);
        self
    }

    /// How long failed executions stay in the store, counted from their last failure; for ever unless
    /// set. As with [`keep_completed`](Self::keep_completed). One that was resumed is not deleted, and
    /// neither is one that is blocked.
    pub fn keep_failed(mut self, time: Duration) -> Self {
        self.settings.retention.failed = Some(time);
        self
    }

    /// How long a lease on an execution lasts unless it is renewed, which happens every third of it:
    /// after a worker's death another takes its executions up after this time. Default 30 s. An embedded
    /// store needs no waiting: its one process takes everything up at once.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.settings.lease = lease;
        self
    }

    /// Checks everything, takes up every unfinished execution of the store, and begins to work.
    ///
    /// # Errors
    /// [`BuildError`], before anything runs: no store, a setting that cannot work, a `#[state]` that
    /// nobody gave, two functions under one name. All faults of the registration are told at once.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[allow(
        clippy::disallowed_methods,
        reason = "the handle owns the engine's task"
    )]
    #[allow(
        clippy::unused_async,
        reason = "stores that connect will need it, and callers write await"
    )]
    pub async fn start(mut self) -> Result<Skail, BuildError> {
        let store = self.take_store()?;
        let shared = Arc::new(self.assemble(store)?);
        let engine = tokio::spawn(Scheduler::new(Arc::clone(&shared)).run());
        Ok(Skail {
            inner: Arc::new(Inner {
                shared,
                engine: tokio::sync::Mutex::new(Some(engine)),
            }),
        })
    }

    /// The store, as the engine sees it.
    pub(super) fn take_store(&mut self) -> Result<Arc<dyn Store>, BuildError> {
        let store = self.store.take().ok_or(BuildError::NoStore)?;
        Ok(match self.codec.take() {
            Some(codec) => Arc::new(CodedStore::new(store, codec)),
            None => store,
        })
    }

    /// What the parts of an engine share, around this store.
    pub(super) fn assemble(self, store: Arc<dyn Store>) -> Result<Shared, BuildError> {
        if let Some(name) = self.doubled_state.first() {
            return Err(BuildError::DoubledState { name });
        }
        if let Some(name) = self.doubled_dependency {
            return Err(BuildError::DoubledDependency { name });
        }
        let settings = self.settings;
        check(&settings)?;
        let registry = Registry::collect(&self.explicit, &self.state, self.hooks.is_some())?;
        let dependencies = Dependencies::new(self.dependencies, registry.dependencies())
            .map_err(|(name, problem)| BuildError::Dependency { name, problem })?;
        let random = self
            .seed
            .map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
        Ok(Shared {
            store,
            clock: self.clock,
            registry,
            state: Arc::new(self.state),
            settings,
            worker: WorkerId::generate(),
            commands: Arc::new(Semaphore::new(settings.max_commands)),
            blocking: Arc::new(Semaphore::new(MOST_BLOCKING)),
            dependencies,
            waiters: Waiters::default(),
            watchdog: Watchdog::start(settings.poll_patience),
            stopping: watch::Sender::new(false),
            random: Mutex::new(random),
            hooks: self.hooks,
        })
    }
}

fn check(settings: &Settings) -> Result<(), BuildError> {
    let bounds = [
        ("max_running_executions", settings.max_executions),
        ("max_running_commands", settings.max_commands),
        ("payload_limit", settings.payload_limit),
    ];
    if let Some((setting, _)) = bounds.iter().find(|(_, value)| *value == 0) {
        return Err(BuildError::Setting {
            setting,
            reason: "it must be at least 1",
        });
    }
    if settings.max_commands > Semaphore::MAX_PERMITS {
        let reason = "it is larger than the runtime can count";
        return Err(BuildError::Setting {
            setting: "max_running_commands",
            reason,
        });
    }
    if settings.lease < Duration::from_secs(1) {
        return Err(BuildError::Setting {
            setting: "lease",
            reason: "it must be at least 1 s",
        });
    }
    if settings.max_retry_after.is_zero() {
        return Err(BuildError::Setting {
            setting: "max_retry_after",
            reason: "it must be longer than zero",
        });
    }
    Ok(())
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("store", &self.store)
            .field("state", &self.state)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// Why an engine could not start.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The builder was given no store.
    #[error("Skail needs a store: add `.store(SledStore::open(\"skail-data\")?)` to the builder")]
    NoStore,
    /// A setting that cannot work.
    #[error("the builder's `{setting}` cannot be used: {reason}")]
    Setting {
        /// The builder's method.
        setting: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// Two values of one type.
    #[error(
        "`.state(…)` was given two values of type `{name}`; a command borrows by type, so wrap one of them in a type of its own"
    )]
    DoubledState {
        /// The type.
        name: &'static str,
    },
    /// One dependency was set twice.
    #[error("`.dependency(…)` was given `{name}` twice: keep one of the two")]
    DoubledDependency {
        /// Its name.
        name: String,
    },
    /// A dependency that cannot work.
    #[error("the dependency `{name}` cannot be used: {problem}")]
    Dependency {
        /// Its name.
        name: String,
        /// The part of it.
        problem: InvalidSetting,
    },
    /// Something is wrong with what is registered.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}
