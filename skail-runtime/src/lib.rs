//! Durable execution for Rust: annotated async functions that survive a crash.

extern crate self as skail_runtime;

pub mod clock;
pub mod codec;
pub mod descriptor;
pub mod engine;
pub mod error;
pub mod history;
pub mod retry;
pub mod state;
pub mod store;

mod ids;

#[doc(hidden)]
pub mod __private;

pub use engine::{CommandCall, FunctionCall};
pub use error::{CommandError, FailureKind};
pub use skail_macros::{skail_command, skail_function};

pub use ids::{Epoch, ExecutionId, InvalidId, MAX_ID_BYTES, Position, Sequence, WorkerId};

/// placeholder
#[derive(Debug)]
pub struct Skail;
