//! Durable execution for Rust: annotated async functions that survive a crash.

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
mod skail;

#[doc(hidden)]
pub mod __private;

pub use engine::{AttemptInfo, CommandCall, FunctionCall, attempt, idempotency_key};
pub use error::{CommandError, FailureKind};
pub use execution::{Execution, ExecutionError, Resume};
pub use ids::{Epoch, ExecutionId, InvalidId, MAX_ID_BYTES, Position, Sequence, WorkerId};
pub use registry::RegistryError;
pub use skail::{BuildError, Builder, Skail, Start, StartError};
#[doc = include_str!("docs/skail_command.md")]
pub use skail_macros::skail_command;
#[doc = include_str!("docs/skail_function.md")]
pub use skail_macros::skail_function;

/// What most programs need: `use skail_runtime::prelude::*;`.
pub mod prelude {
    pub use crate::{
        CommandCall, CommandError, Execution, ExecutionId, FailureKind, FunctionCall, Skail,
        attempt, idempotency_key, skail_command, skail_function,
    };
}
