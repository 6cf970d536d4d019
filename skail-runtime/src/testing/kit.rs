//! The engine of a test: on a store in memory and a clock that jumps.
//!
//! Owns one engine after the other on the same store, clock, state and substitutes. Must never do what an
//! engine of a program does not: tests are to test that one.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::builder::{Make, TestBuilder};
use super::clock::VirtualClock;
use super::commands::{Commands, name_of};
use super::crash_store::{CrashPoint, CrashStore, Watch};
use crate::clock::{Clock as _, Timestamp};
use crate::codec::{Payload, PayloadError};
use crate::descriptor::{Command, Register};
use crate::engine::{FunctionCall, Input};
use crate::error::BodyError;
use crate::execution::ExecutionError;
use crate::skail::{BuildError, Skail, StartError};
use crate::store::MemoryStore;

/// An engine for tests: functions run as they do in a program, on a store in memory, a [`VirtualClock`]
/// that jumps to the next due time when everything waits, and with substitutes for the commands that a
/// test must not run.
///
/// ```standalone_crate
/// use std::time::Duration;
///
/// use skail_runtime::prelude::*;
/// use skail_runtime::testing::TestSkail;
///
/// struct Gateway;
///
/// #[skail_command(retry_count = 30, backoff(base = "1d", cap = "1d", jitter = "none"))]
/// async fn collect(#[state] gateway: &Gateway, invoice: u32) -> anyhow::Result<String> {
///     # let _ = gateway;
///     anyhow::bail!("a test must not ask anybody for the money of {invoice}")
/// }
///
/// #[skail_command]
/// async fn thank(invoice: u32, receipt: String) -> anyhow::Result<()> {
///     # let _ = (invoice, receipt);
///     Ok(())
/// }
///
/// #[skail_function]
/// async fn bill(invoice: u32) -> anyhow::Result<String> {
///     let receipt = collect(invoice).await?;
///     thank(invoice, receipt.clone()).await?;
///     Ok(receipt)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anyhow::Result<()> {
/// // As in `#[tokio::test] async fn …`.
/// let test = TestSkail::builder()
///     .replace::<collect>()
///     .with(|(invoice,)| {
///         anyhow::ensure!(attempt().number == 30, "they have not paid yet");
///         Ok(format!("receipt of {invoice}"))
///     })
///     .start()
///     .await?;
///
/// assert_eq!(test.run(bill(7)).await?, "receipt of 7");
/// // Four weeks have passed, in some milliseconds.
/// assert_eq!(test.elapsed(), Duration::from_secs(29 * 24 * 3600));
/// assert_eq!(test.runs_of::<collect>(), 30);
/// let thanked = test.command::<thank>().arguments()?;
/// assert_eq!(thanked, [(7, "receipt of 7".to_owned())]);
/// # Ok(())
/// # }
/// ```
///
/// Every function and command of the test's program is registered, as everywhere; but state has to be
/// given only for what a test runs.
///
/// The clock is Skail's own: tokio's timer runs in real time, and must not be paused
/// (`#[tokio::test(start_paused = true)]`), or what a body waits for in real time and the kit's patience
/// with it race each other.
pub struct TestSkail {
    make: Make,
    store: MemoryStore,
    skail: Skail,
    watch: Watch,
    start: Timestamp,
    runs: AtomicU64,
}

impl TestSkail {
    /// Begins to put one together.
    pub fn builder() -> TestBuilder {
        TestBuilder::new()
    }

    pub(super) async fn start(make: Make, crash: Option<CrashPoint>) -> Result<Self, BuildError> {
        let store = MemoryStore::new();
        let (skail, watch) = engine(&make, &store, crash).await?;
        Ok(Self {
            skail,
            watch,
            start: make.clock.now(),
            make,
            store,
            runs: AtomicU64::new(0),
        })
    }

    /// Starts an execution, under the id `test-1`, the next under `test-2` and so on, and gives its result.
    ///
    /// # Errors
    /// [`TestError::MissingState`] if a command's body was to run without its state, whatever came of it;
    /// else what [starting](Skail::start) and [waiting](crate::Execution::result) give.
    pub async fn run<T: DeserializeOwned + Send>(
        &self,
        call: FunctionCall<T>,
    ) -> Result<T, TestError> {
        let number = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        self.run_as(&format!("test-{number}"), call).await
    }

    pub(super) async fn run_as<T: DeserializeOwned + Send>(
        &self,
        id: &str,
        call: FunctionCall<T>,
    ) -> Result<T, TestError> {
        let execution = self.skail.start(call).id(id).await?;
        let result = execution.result().await;
        self.check()?;
        Ok(result?)
    }

    /// Follows the store of this life.
    pub(super) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Whether the test is whole.
    fn check(&self) -> Result<(), TestError> {
        match self.make.commands.missing() {
            Some(message) => Err(TestError::MissingState { message }),
            None => Ok(()),
        }
    }

    /// The engine, for everything that a program can do with it.
    #[must_use]
    pub fn skail(&self) -> &Skail {
        &self.skail
    }

    /// The clock. It jumps by itself; a test may [step](VirtualClock::step) it.
    #[must_use]
    pub fn clock(&self) -> &VirtualClock {
        &self.make.clock
    }

    /// How much time has passed since the start, on the test's clock.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.make.clock.since(self.start)
    }

    /// The store. To look into it; the engine is the one to change it.
    #[must_use]
    pub fn store(&self) -> &MemoryStore {
        &self.store
    }

    /// How often the command's body, or what was put in its place, has begun to run: every attempt counts,
    /// before and after restarts.
    ///
    /// # Panics
    /// If `C` is a function.
    #[must_use]
    pub fn runs_of<C: Register>(&self) -> u32 {
        self.make.commands.runs(name_of::<C>())
    }

    /// What the test has seen of a command.
    ///
    /// # Panics
    /// If `C` is a function.
    #[must_use]
    pub fn command<C: Register>(&self) -> SeenCommand<'_, C> {
        SeenCommand {
            commands: &self.make.commands,
            name: name_of::<C>(),
            command: PhantomData,
        }
    }

    /// The process dies as it stands, `kill -9`, and another one starts on what was durable: with the same
    /// clock, state, substitutes and counts. Handles of executions from before are void; ask
    /// [`skail`](Self::skail) for new ones.
    ///
    /// ```standalone_crate
    /// use skail_runtime::prelude::*;
    /// use skail_runtime::testing::TestSkail;
    ///
    /// #[skail_command]
    /// async fn reserve(order: u32) -> anyhow::Result<u32> {
    ///     Ok(order)
    /// }
    ///
    /// #[skail_function]
    /// async fn process(order: u32) -> anyhow::Result<u32> {
    ///     Ok(reserve(order).await?)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> anyhow::Result<()> {
    /// let mut test = TestSkail::builder().start().await?;
    /// test.skail().start(process(42)).id("order-42").await?.result().await?;
    /// test.restart().await?;
    /// let again = test.skail().start(process(42)).id("order-42").await?;
    /// assert_eq!(again.result().await?, 42);
    /// assert_eq!(test.runs_of::<reserve>(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`TestBuilder::start`].
    pub async fn restart(&mut self) -> Result<(), BuildError> {
        self.skail.kill().await;
        self.store = self.store.crash();
        (self.skail, self.watch) = engine(&self.make, &self.store, None).await?;
        Ok(())
    }
}

/// An engine on this store.
async fn engine(
    make: &Make,
    store: &MemoryStore,
    crash: Option<CrashPoint>,
) -> Result<(Skail, Watch), BuildError> {
    let store = CrashStore::new(store.clone(), crash);
    let watch = store.watch();
    let builder = make
        .setups
        .iter()
        .fold(Skail::builder(), |builder, setup| setup(builder));
    let skail = builder
        .store(store)
        .clock(Arc::new(make.clock.clone()))
        .seed(make.seed)
        .hooks(Arc::clone(&make.commands) as Arc<_>, make.commands.state())
        .start()
        .await?;
    Ok((skail, watch))
}

impl fmt::Debug for TestSkail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestSkail")
            .field("skail", &self.skail)
            .field("clock", &self.make.clock)
            .field("commands", &self.make.commands)
            .finish_non_exhaustive()
    }
}

/// What a test has seen of one command; made by [`TestSkail::command`].
pub struct SeenCommand<'a, C> {
    commands: &'a Commands,
    name: &'static str,
    command: PhantomData<fn() -> C>,
}

impl<C> SeenCommand<'_, C> {
    /// As [`TestSkail::runs_of`].
    #[must_use]
    pub fn runs(&self) -> u32 {
        self.commands.runs(self.name)
    }

    /// The arguments of each run, in the order in which they began.
    ///
    /// # Errors
    /// [`PayloadError`] if the arguments of a run cannot be read back, which their record would say too.
    pub fn arguments<Arguments, Returned>(&self) -> Result<Vec<Arguments>, PayloadError>
    where
        C: Command<Arguments, Returned>,
    {
        let runs = self.commands.arguments(self.name);
        runs.into_iter().map(read::<C, _, _>).collect()
    }
}

/// Reads recorded arguments as their command does.
fn read<C: Command<A, R>, A, R>(arguments: Payload) -> Result<A, PayloadError> {
    let input = Input::new(Arc::default(), arguments, usize::MAX);
    C::__skail_read(&input).map_err(|error| match error {
        BodyError::Arguments { error, .. } | BodyError::Result(error) => error,
        BodyError::User(failure) => PayloadError::Decode {
            wanted: std::any::type_name::<A>(),
            reason: failure.to_string(),
        },
    })
}

impl<C> fmt::Debug for SeenCommand<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SeenCommand(`{}`, {} runs)", self.name, self.runs())
    }
}

/// Why a test got no result.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum TestError {
    /// A command's body was to run, and its `#[state]` was not given to the test.
    #[error("the test is not whole: {message}")]
    MissingState {
        /// Which command, which state, and what to do.
        message: String,
    },
    /// The execution was not started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The execution gave no result.
    #[error(transparent)]
    Execution(#[from] ExecutionError),
}
