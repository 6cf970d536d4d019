//! The order in which commands that run at the same time end, chosen by a seed; and one test under many.
//!
//! Owns the choice. Each end comes a few virtual milliseconds after its body's, as many as the seed says
//! for that step and attempt: so it depends on nothing else, and the same seed gives the same order on any
//! machine.

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use super::builder::TestBuilder;
use super::kit::TestSkail;
use crate::engine::panic_text;
use crate::ids::Position;

/// Few, so that ends that fall together, which are one commit, are tried too.
const CHOICES: u64 = 8;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub(super) struct Order {
    seed: u64,
}

impl Order {
    pub(super) fn of(seed: u64) -> Self {
        Self { seed }
    }

    /// How long after its body's the end of an attempt comes.
    pub(super) fn lag(self, position: Position, attempt: u32) -> Duration {
        let place = (u64::from(position.0) << 32) | u64::from(attempt);
        let mut random =
            fastrand::Rng::with_seed(self.seed ^ place.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        Duration::from_millis(random.u64(1..=CHOICES))
    }
}

/// Runs a test once per seed, each time with another order in which commands that run at the same time
/// end: for functions with `join!`, `select!` or `FuturesUnordered`. What the test finds, by an error or by
/// a panic, is told together with the seed, and
/// [`completion_order`](TestBuilder::completion_order) with that seed repeats it.
///
/// ```standalone_crate
/// use std::sync::{Arc, Mutex};
///
/// use skail_runtime::prelude::*;
/// use skail_runtime::testing::explore_orders;
///
/// #[derive(Clone, Default)]
/// struct Stock(Arc<Mutex<u32>>);
///
/// #[skail_command]
/// async fn take(#[state] stock: &Stock, pieces: u32) -> anyhow::Result<u32> {
///     let mut there = stock.0.lock().expect("no panic holds it");
///     *there -= pieces;
///     Ok(*there)
/// }
///
/// #[skail_function]
/// async fn takes_two() -> anyhow::Result<()> {
///     tokio::try_join!(take(1), take(2))?;
///     Ok(())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anyhow::Result<()> {
/// explore_orders(0..50, async |test| {
///     let stock = Stock(Arc::new(Mutex::new(10)));
///     let test = test.state(stock.clone()).start().await?;
///     test.run(takes_two()).await?;
///     assert_eq!(*stock.0.lock().expect("no panic holds it"), 7);
///     anyhow::Ok(())
/// })
/// .await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`OrderError`] for the first seed under which the test fails.
pub async fn explore_orders<E: fmt::Display>(
    seeds: impl IntoIterator<Item = u64>,
    test: impl AsyncFn(TestBuilder) -> Result<(), E>,
) -> Result<(), OrderError> {
    for seed in seeds {
        let run = test(TestSkail::builder().completion_order(seed));
        let problem = match unwound(run).await {
            Ok(Ok(())) => continue,
            // The alternate form of `anyhow::Error` has its causes.
            Ok(Err(error)) => format!("{error:#}"),
            Err(panic) => panic,
        };
        return Err(OrderError { seed, problem });
    }
    Ok(())
}

/// What comes of `future`, or what it panicked with.
async fn unwound<F: Future>(future: F) -> Result<F::Output, String> {
    let mut future = pin!(future);
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic_text(panic))),
        },
    )
    .await
}

/// A test failed under an order of ends. Its `Debug` is its text, so that `unwrap` shows it readably.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the test fails when commands end in the order of seed {seed} (`.completion_order({seed})` repeats \
     it): {problem}"
)]
#[non_exhaustive]
pub struct OrderError {
    /// The seed.
    pub seed: u64,
    /// What the test said.
    pub problem: String,
}

impl fmt::Debug for OrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
