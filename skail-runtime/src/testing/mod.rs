//! What tests of durable functions need: a clock that they control.
//!
//! Behind the feature `testing`. Must never be part of a production build.
//!
//! With [`MemoryStore::crash`](crate::store::MemoryStore::crash) a test is a crash, too:
//!
//! ```standalone_crate
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! use skail_runtime::prelude::*;
//! use skail_runtime::store::MemoryStore;
//! use skail_runtime::testing::VirtualClock;
//!
//! #[derive(Clone, Default)]
//! struct Runs(Arc<AtomicU32>);
//!
//! #[skail_command(retry_count = 3, backoff(base = "1h", cap = "1d", jitter = "none"))]
//! async fn succeeds_at_last(#[state] runs: &Runs) -> anyhow::Result<u32> {
//!     runs.0.fetch_add(1, Ordering::SeqCst);
//!     anyhow::ensure!(attempt().number == 4, "not yet");
//!     Ok(attempt().number)
//! }
//!
//! #[skail_function]
//! async fn waits_for_hours() -> anyhow::Result<u32> {
//!     Ok(succeeds_at_last().await?)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> anyhow::Result<()> {
//! let (store, clock, runs) = (MemoryStore::new(), VirtualClock::new(), Runs::default());
//! let engine = |store: &MemoryStore| {
//!     Skail::builder().store(store.clone()).clock(Arc::new(clock.clone())).state(runs.clone()).start()
//! };
//! let skail = engine(&store).await?;
//! let result = skail.start(waits_for_hours()).id("one").await?.result().await?;
//! assert_eq!(result, 4);
//!
//! // The process dies. What was recorded is there, and no body runs again.
//! drop(skail);
//! let skail = engine(&store.crash()).await?;
//! assert_eq!(skail.execution::<u32>("one").await?.result().await?, 4);
//! assert_eq!(runs.0.load(Ordering::SeqCst), 4);
//! # Ok(())
//! # }
//! ```

mod clock;

pub use clock::VirtualClock;
