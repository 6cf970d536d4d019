//! When something is tried again.
//!
//! Owns the arithmetic of delays, budgets and breakers. Pure: time and randomness are passed in; must
//! never know tokio or a store.

mod advice;
mod backoff;
mod setting;

pub use crate::error::Advice;
pub use advice::{Advised, RetryAdvice, advised, permanent, retry_after};
pub use backoff::{Backoff, Jitter};
pub use setting::InvalidSetting;
