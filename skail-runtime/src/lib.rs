//! Durable execution for Rust: annotated async functions that survive a crash.
//!
//! A **function** orders steps; a **command** is a step with an outside effect. What a command returned is
//! recorded, durably, before the function sees it. When the process dies, the next one runs every
//! unfinished function again from its start: recorded steps are answered from the record and do not run
//! again, and what is not recorded yet runs then.
//!
//! ```standalone_crate
//! use skail_runtime::prelude::*;
//! use skail_runtime::store::MemoryStore;
//!
//! /// Lent to commands; not recorded.
//! struct Gateway;
//!
//! impl Gateway {
//!     async fn charge(&self, cents: u32, key: &str) -> anyhow::Result<String> {
//!         Ok(format!("receipt for {cents} under {key}"))
//!     }
//! }
//!
//! #[skail_command(retry_count = 8, idempotency_key = "charge-{order}")]
//! async fn charge(#[state] gateway: &Gateway, order: u32, cents: u32) -> anyhow::Result<String> {
//!     gateway.charge(cents, &idempotency_key()).await
//! }
//!
//! #[skail_command]
//! async fn ship(order: u32) -> anyhow::Result<()> {
//!     println!("order {order} is on its way");
//!     Ok(())
//! }
//!
//! #[skail_function]
//! async fn process(order: u32, cents: u32) -> anyhow::Result<String> {
//!     let receipt = charge(order, cents).await?;
//!     ship(order).await?;
//!     Ok(receipt)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> anyhow::Result<()> {
//! // A program opens a `SledStore`; this one forgets everything when it ends.
//! let skail = Skail::builder().store(MemoryStore::new()).state(Gateway).start().await?;
//!
//! let order = skail.start(process(42, 1995)).id("order-42").await?;
//! assert_eq!(order.result().await?, "receipt for 1995 under charge-42");
//!
//! // The id is the idempotency key of the start: this is the same execution, and nothing runs twice.
//! let again = skail.start(process(42, 1995)).id("order-42").await?;
//! assert_eq!(again.result().await?, "receipt for 1995 under charge-42");
//!
//! skail.shutdown().await?;
//! # Ok(())
//! # }
//! ```
//!
//! The attributes are described at [`skail_command`] and [`skail_function`], what a store has to do at
//! [`store::Store`], how the code is built in `ARCHITECTURE.md` of the repository.
//!
//! # What is tried again
//!
//! `retry_count` is the number of attempts *after* the first: 5 unless given for a command, 15 for a
//! function.
//!
//! | what happened to an attempt of a command | does it count? | then |
//! | --- | --- | --- |
//! | the body returned `Err`, any error | yes | the next attempt after the [backoff](retry::Backoff); after the last one the function gets a [`CommandError`] |
//! | the error says that it is [`permanent`] | yes | no further attempt: the function gets the [`CommandError`] at once; if it passes that on, it is not redelivered either |
//! | the error says [`retry_after`] | yes | the next attempt after that time, instead of the backoff's, and up to 10 % later; at most [`Builder::max_retry_after`] |
//! | the body panicked | yes | the same |
//! | the attempt took longer than its `timeout` | yes | the same; the body is dropped at its `.await` (a `blocking` one cannot be stopped: it runs on, and nobody listens) |
//! | the process died in the body, `retry_count >= 1` | from the second time on | the next attempt: a command that kills its process is started at most `2 + retry_count` times |
//! | the process died in the body, `retry_count = 0` | yes | it never runs again: the function gets [`FailureKind::Interrupted`], and whether the effect happened is unknown. That is at most once |
//! | its call was dropped, by a `select!` for instance | no | nobody waits for it: the body is dropped, and what it would have returned is never delivered |
//! | the breaker of its [dependency](retry::Dependency) is open, or the retry budget is spent | no, it has not begun | it waits its turn; a long wait holds no memory |
//! | a shutdown or a lost lease cut the body off, `retry_count = 0` | yes | it never runs again: [`FailureKind::Interrupted`] |
//! | otherwise: the worker shut down, lost its lease, or could not reach its store | no | it goes on elsewhere or later |
//! | the result or an argument cannot be recorded | yes | no further attempt can help: [`FailureKind::Unrecordable`] at once, as if it were [`permanent`] |
//!
//! A failed attempt is recorded before the next one starts, with the time at which that is due: neither
//! counts nor waits begin afresh after a crash. The function sees the last error only, and an answer that
//! no retry can change, such as a card that is declined, is better a value in `Ok`.
//!
//! A function that returns `Err` or panics is run again, with backoff, until its own `retry_count` is
//! spent. Its recorded steps keep their results, but commands that failed last, and on whose failure
//! nothing was built since, get all their attempts again. Then it is
//! [`Failed`](history::Status::Failed): history and error stay, and [`Execution::resume`] lets it go on.
//!
//! # Choosing `retry_count`
//!
//! The two counts multiply. A command that always fails, in a function that passes the error on with
//! `?`, runs `(1 + 15) * (1 + 5) = 96` times before the execution has failed, over some minutes. So decide
//! at one place:
//!
//! - The function *handles* the error, with a `match` that compensates or returns a value: let the command
//!   have the count that you mean, and the function's own count hardly matters.
//! - The function *passes the error on*: `#[skail_function(retry_count = 0)]` leaves the retries to the
//!   commands.
//! - An effect that must not happen twice, at a system that takes no idempotency key: `retry_count = 0` on
//!   the command, and a `match` on [`CommandError::kind`] for [`FailureKind::Interrupted`], which asks the
//!   other system or a person what happened.
//!
//! With the default backoff (500 ms, doubled each time, at most 30 s, each wait drawn at random between
//! zero and that) 5 retries span up to 15 s, 8 up to a minute and a half, 20 up to seven and a half
//! minutes; half of that on average.
//!
//! # Effects and idempotency keys
//!
//! An outside effect happens *at least* once: a process can die after the effect and before its record.
//! Nothing inside one process can close that window; the receiver can, if it is told that it has seen a
//! request before. [`idempotency_key()`] is that word: the same in all attempts of a call, after every
//! crash and in every process, and different for every other call. Send it along as a header, or as the
//! primary key of the row that you insert.
//!
//! By default it is made of the execution's id, the position and the command's name. Where the same effect
//! may be asked for by two executions, give it the name that the business has for it:
//! `#[skail_command(idempotency_key = "charge-{order}")]`.
//!
//! # What a function may not do
//!
//! A function runs again from its start, so it must ask for the same steps in the same order with the same
//! arguments. What differs from one run to the next has to come out of a step, which records it: [`now`],
//! [`random`], [`uuid()`], [`record`] for other values at hand, a command for everything else. The attribute
//! refuses the usual traps in the body itself, each with what to write instead; [`skail_function`] lists
//! them. What it cannot see is found at run time:
//!
//! - Code that asks for another step, or for other arguments, than the history holds makes the execution
//!   [`Blocked`](history::Status::Blocked) before anything runs, with a message that names the position,
//!   shows both, and says the ways out. No attempt is spent. Deploy code that fits, then
//!   [resume](Execution::resume).
//! - A function that awaits something which Skail does not record (a socket, a timer, a channel, a task of
//!   its own) is blocked too, with its name and position. Await it in a command.
//!
//! Calls can be awaited in any shape: one after the other, with `join!`, `try_join_all`,
//! `FuturesUnordered`, `select! { biased; … }`. A call takes its position when it is first polled, and
//! completions are delivered one at a time in the order in which they were recorded, so a replay takes the
//! way that the live run took. A call that is never awaited does nothing.
//!
//! # Waiting
//!
//! [`sleep`] and [`sleep_until`] wait for minutes or months: when the wait ends is recorded when it begins,
//! and beyond the [warm period](Builder::warm_period) a waiting execution is a row in the store and nothing
//! in memory. [`timeout`] bounds any step, or a block of several, by such a timer.
//!
//! # Changing code
//!
//! Deploying changed code is safe for executions that start afterwards, and for changes inside commands.
//! While executions of a function run, steps that they may have behind them are not simply reordered,
//! inserted, removed or given other arguments: put the change behind [`patched`], which tells the
//! executions that have come past it from those that have not. Or give the changed function another `name`
//! and keep the old one until its executions have ended.
//! [`Builder::verify`] tells before a deploy which executions a build would block, and
//! [`Builder::replay`] runs histories that were [exported](Execution::export) against it.
//!
//! # Types
//!
//! Arguments and results are MessagePack with field names: fields can be added (with `#[serde(default)]`)
//! and reordered. A value that is written differently once it was read back (an untagged enum whose
//! first variant swallows the others, a lossy `Deserialize`) is an error of the command that returned it,
//! at once, and not of a replay months later. What is written alike goes unnoticed: `Some(None)` comes back
//! as `None`, and of two untagged variants with the same fields it is the first. Argument lists and results
//! are limited to 4 MiB each ([`Builder::payload_limit`]); keep large data outside and record where it is.
//!
//! [`Builder::codec`] puts encryption or compression between payloads and the store. It sees arguments,
//! results and typed errors; ids, names, tags, times and the *texts* of errors stay readable.
//!
//! # Tests
//!
//! The body of a command is an ordinary function for a unit test: `charge::body(&gateway, 42, 1995).await`.
//! A function's body that awaits calls needs an execution around it. With the feature `testing` there is
//! the module `testing`: `TestSkail` runs functions in memory, with typed substitutes for commands and a
//! clock on which a wait of a month takes no time, and `crash_everywhere` lets the process die before and
//! after each commit and compares. `docs/testing.md` of the repository is the guide.
//!
//! Whatever is annotated in a program is registered in it, in a test's program too: two of one name, in
//! different modules for instance, need a `name = "…"`, and `start()` of the builder asks for the
//! `#[state]` of all of them; `TestSkail` asks only for that of what runs.
//! Documentation tests are merged into one program unless they begin with `standalone_crate`.
//!
//! # Features
//!
//! | feature | what it brings |
//! | --- | --- |
//! | `sled` (default) | the embedded store: a directory, no server |
//! | `testing` | what tests of functions need, and the checks that every store has to pass |

extern crate self as skail_runtime;

pub mod clock;
pub mod codec;
pub mod descriptor;
pub mod error;
pub mod history;
pub mod retry;
pub mod state;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;

mod engine;
mod execution;
mod ids;
mod registry;
mod saga;
mod skail;

#[doc(hidden)]
pub mod __private;

pub use engine::{
    AttemptInfo, CommandCall, DependencyCounts, DependencyStatus, FunctionCall, Random, StepCall,
    Timeout, attempt, idempotency_key, now, patched, random, record, sleep, sleep_until, timeout,
    uuid,
};
pub use error::{CommandError, Elapsed, FailureKind, StepError};
pub use execution::{Execution, ExecutionError, Resume};
pub use ids::{Epoch, ExecutionId, InvalidId, MAX_ID_BYTES, Position, Sequence, WorkerId};
pub use registry::RegistryError;
pub use retry::{Advice, RetryAdvice, advised, permanent, retry_after};
pub use saga::{Compensated, Saga, SagaError, Undone};
pub use skail::{
    BuildError, Builder, Diverging, ReplayError, Skail, Start, StartError, Verification,
    VerifyError,
};
#[doc = include_str!("docs/skail_command.md")]
pub use skail_macros::skail_command;
#[doc = include_str!("docs/skail_function.md")]
pub use skail_macros::skail_function;

/// What most programs need: `use skail_runtime::prelude::*;`.
pub mod prelude {
    #[cfg(feature = "sled")]
    pub use crate::store::SledStore;
    pub use crate::{
        Advice, CommandCall, CommandError, Elapsed, Execution, ExecutionId, FailureKind,
        FunctionCall, RetryAdvice, Saga, Skail, StepCall, StepError, advised, attempt,
        idempotency_key, now, patched, permanent, random, record, retry_after, skail_command,
        skail_function, sleep, sleep_until, timeout, uuid,
    };
}

/// Compiles the code of the repository's first page.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// Compiles the code of the guide to testing.
#[cfg(all(doctest, feature = "testing"))]
#[doc = include_str!("../../docs/testing.md")]
struct Testing;
