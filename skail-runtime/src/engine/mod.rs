//! What runs executions: it polls functions, runs command bodies, records what came of them.
//!
//! Owns every spawned task and every wait. Only the driver changes an execution's history; nothing here
//! knows a store's keys.

mod call;
mod context;
mod input;

pub use call::{CommandCall, FunctionCall};
pub use context::{AttemptInfo, attempt, idempotency_key};
pub use input::{Arguments, Input};
