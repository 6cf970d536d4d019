//! What runs executions: it polls functions, runs command bodies, records what came of them.
//!
//! Owns every spawned task and every wait. Only the driver changes an execution's history; nothing here
//! knows a store's keys.

mod ask;
mod attempts;
mod begin;
mod call;
mod claimed;
mod context;
mod dependencies;
mod driver;
mod endings;
mod frame;
mod hooks;
mod input;
mod patch;
mod places;
mod reach;
mod recorder;
mod rehearsal;
mod request;
mod retention;
mod round;
mod scheduler;
mod shared;
mod sleep;
mod step_call;
mod steps;
mod timeout;
mod timers;
mod underway;
mod values;
mod waiters;
mod waker;
mod watchdog;

pub use call::{CommandCall, FunctionCall};
pub use context::{AttemptInfo, attempt, idempotency_key};
pub use dependencies::{DependencyCounts, DependencyStatus};
pub use input::{Arguments, CallArguments, Input};
pub use patch::patched;
pub use sleep::{sleep, sleep_until};
pub use step_call::StepCall;
pub use timeout::{Timeout, timeout};
pub use values::{Random, now, random, record, uuid};

pub(crate) use call::Repeatable;
pub(crate) use dependencies::Dependencies;
pub(crate) use hooks::Hooks;
pub(crate) use rehearsal::{Rehearsal, Unplayable, Verdict};
pub(crate) use scheduler::Scheduler;
pub(crate) use shared::{MOST_BLOCKING, Settings, Shared};
pub(crate) use waiters::{Ending, Waiter, Waiters};
pub(crate) use watchdog::Watchdog;
#[cfg(feature = "testing")]
pub(crate) use {attempts::panic_text, hooks::Substitute};
