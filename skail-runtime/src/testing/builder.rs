//! How a [`TestSkail`] is put together.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use super::TestSkail;
use super::clock::VirtualClock;
use super::commands::{Commands, name_of};
use super::order::Order;
use crate::clock::Timestamp;
use crate::descriptor::{Command, Register};
use crate::engine::Substitute;
use crate::skail::{BuildError, Builder};
use crate::state::StateMap;

/// What else the engine's own builder is told.
pub(super) type Setup = Arc<dyn Fn(Builder) -> Builder + Send + Sync>;

/// Puts a [`TestSkail`] together: shared state, substituted commands, the time at which it begins.
#[must_use = "a builder does nothing until `.start().await`"]
pub struct TestBuilder {
    state: StateMap,
    substitutes: HashMap<&'static str, Substitute>,
    clock: VirtualClock,
    seed: u64,
    order: Option<Order>,
    setups: Vec<Setup>,
}

impl TestBuilder {
    pub(super) fn new() -> Self {
        Self {
            state: StateMap::default(),
            substitutes: HashMap::new(),
            clock: VirtualClock::new(),
            seed: 0,
            order: None,
            setups: Vec::new(),
        }
    }

    /// A value that commands and functions borrow with `#[state] x: &T`; it outlives
    /// [restarts](TestSkail::restart). Of two values of one type the later counts, so that a test can
    /// change what a helper has set up.
    ///
    /// What is not given is missed only when it is needed: a command without its state fails the test when
    /// its body is to run, unless it is [replaced](Self::replace), and an execution of a function without
    /// its state is blocked with a message that says so.
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.state.insert(value);
        self
    }

    /// Puts something in the place of a command's body: name the command here, and say what runs instead
    /// with [`with`](Replace::with) or [`with_async`](Replace::with_async). What is put there takes the
    /// command's arguments and returns what the command returns; the compiler holds it to that. Retries,
    /// timeouts and records are those of the command.
    ///
    /// Of two replacements of one command the later counts.
    ///
    /// ```standalone_crate
    /// use skail_runtime::prelude::*;
    /// use skail_runtime::testing::TestSkail;
    ///
    /// struct Gateway;
    ///
    /// #[skail_command(retry_count = 2)]
    /// async fn charge(#[state] gateway: &Gateway, order: u32, cents: u32) -> anyhow::Result<String> {
    ///     # let _ = gateway;
    ///     anyhow::bail!("no test should send {cents} for {order}")
    /// }
    ///
    /// #[skail_function]
    /// async fn process(order: u32) -> anyhow::Result<String> {
    ///     match charge(order, 1995).await {
    ///         Ok(receipt) => Ok(receipt),
    ///         Err(error) => Ok(format!("not charged after {} attempts", error.attempts())),
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> anyhow::Result<()> {
    /// let test = TestSkail::builder()
    ///     .replace::<charge>()
    ///     .with(|(order, cents)| match order {
    ///         13 => anyhow::bail!("the gateway is down"),
    ///         _ => Ok(format!("{cents} for {order}")),
    ///     })
    ///     .start()
    ///     .await?;
    /// assert_eq!(test.run(process(42)).await?, "1995 for 42");
    /// assert_eq!(test.run(process(13)).await?, "not charged after 3 attempts");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// If `C` is a function.
    pub fn replace<C: Register>(self) -> Replace<C> {
        Replace {
            builder: self,
            name: name_of::<C>(),
            command: PhantomData,
        }
    }

    /// The time at which the test begins. Default 2026-01-01T00:00:00Z.
    pub fn clock_at(mut self, start: Timestamp) -> Self {
        self.clock = VirtualClock::at(start);
        self
    }

    /// The seed of what is random in the engine: the jitter of delays. Default 0: a test is repeatable
    /// unless it asks for something else.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Lets commands that run at the same time end in an order that this seed chooses, each a few virtual
    /// milliseconds after its body. The same seed gives the same order everywhere, so it repeats what
    /// [`explore_orders`](super::explore_orders) has found. Without it they end as the machine has it.
    pub fn completion_order(mut self, seed: u64) -> Self {
        self.order = Some(Order::of(seed));
        self
    }

    /// Everything else that an engine can be told, by its own [`Builder`]; called again at each restart.
    /// Store, clock, seed and state are the kit's.
    ///
    /// ```
    /// # use skail_runtime::testing::TestSkail;
    /// let one_at_a_time = TestSkail::builder().configure(|engine| engine.max_running_commands(1));
    /// # let _ = one_at_a_time;
    /// ```
    pub fn configure(mut self, setup: impl Fn(Builder) -> Builder + Send + Sync + 'static) -> Self {
        self.setups.push(Arc::new(setup));
        self
    }

    /// Starts the engine.
    ///
    /// # Errors
    /// [`BuildError`] as [`Builder::start`], but for state.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn start(self) -> Result<TestSkail, BuildError> {
        TestSkail::start(self.make(), None).await
    }

    pub(super) fn make(self) -> Make {
        Make {
            commands: Arc::new(Commands::new(self.state, self.substitutes, self.order)),
            clock: self.clock,
            seed: self.seed,
            setups: self.setups,
        }
    }
}

impl fmt::Debug for TestBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestBuilder")
            .field("state", &self.state)
            .field("replaced", &self.substitutes.keys())
            .field("clock", &self.clock)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

/// What engines of one test are made of, one after the other.
#[derive(Clone)]
pub(super) struct Make {
    pub(super) commands: Arc<Commands>,
    pub(super) clock: VirtualClock,
    pub(super) seed: u64,
    pub(super) setups: Vec<Setup>,
}

/// A command that is about to be replaced; made by [`TestBuilder::replace`].
#[must_use = "say what runs in the command's place: `.with(|(order, cents)| Ok(…))`"]
pub struct Replace<C> {
    builder: TestBuilder,
    name: &'static str,
    command: PhantomData<fn() -> C>,
}

impl<C: Register> Replace<C> {
    /// A closure runs in the place of the body. It takes the command's recorded arguments as a tuple, of
    /// one that is `(order,)`, and returns the `Result` that the command returns. Inside it,
    /// [`attempt`](crate::attempt) and [`idempotency_key`](crate::idempotency_key) are those of the
    /// command.
    ///
    /// It must not block for long: also the substitute of a `blocking` command runs on the async threads.
    pub fn with<Arguments, Returned>(
        self,
        body: impl Fn(Arguments) -> Returned + Send + Sync + 'static,
    ) -> TestBuilder
    where
        C: Command<Arguments, Returned>,
        Arguments: Send + 'static,
        Returned: Send + 'static,
    {
        self.with_async(move |arguments| std::future::ready(body(arguments)))
    }

    /// An async closure runs in the place of the body; see [`with`](Self::with).
    ///
    /// ```
    /// # use skail_runtime::prelude::*;
    /// # use skail_runtime::testing::TestSkail;
    /// #[skail_command]
    /// async fn fetch(page: u32) -> anyhow::Result<String> {
    ///     # let _ = page;
    ///     anyhow::bail!("no network here")
    /// }
    ///
    /// let builder = TestSkail::builder().replace::<fetch>().with_async(|(page,)| async move {
    ///     Ok(format!("page {page}"))
    /// });
    /// # let _ = builder;
    /// ```
    pub fn with_async<Arguments, Returned, Running>(
        mut self,
        body: impl Fn(Arguments) -> Running + Send + Sync + 'static,
    ) -> TestBuilder
    where
        C: Command<Arguments, Returned>,
        Running: Future<Output = Returned> + Send + 'static,
        Arguments: Send + 'static,
        Returned: Send + 'static,
    {
        let body = Arc::new(body);
        let substitute: Substitute = Arc::new(move |input| {
            let body = Arc::clone(&body);
            Box::pin(async move {
                let running = body(C::__skail_read(&input)?);
                C::__skail_finish(&input, running.await)
            })
        });
        self.builder.substitutes.insert(self.name, substitute);
        self.builder
    }
}

impl<C> fmt::Debug for Replace<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Replace(`{}`)", self.name)
    }
}
