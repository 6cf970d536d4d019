//! When something is tried again.
//!
//! Owns the arithmetic of delays, budgets and breakers. Pure: time and randomness are passed in; must
//! never know tokio or a store.

mod advice;
mod backoff;
mod breaker;
mod budget;
mod circuit;
mod dependency;
mod reentry;
mod setting;
mod turns;
mod window;

pub use crate::error::Advice;
pub use advice::{Advised, RetryAdvice, advised, permanent, retry_after};
pub use backoff::{Backoff, Jitter};
pub use breaker::Breaker;
pub use budget::{Budget, Ledger};
pub use circuit::{Caller, Circuit, CircuitState, Ticket};
pub use dependency::Dependency;
pub use setting::InvalidSetting;
