//! What is tried again, how often, and when: the promises about retries.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::type_complexity,
    reason = "what is wrong ends the test, in its helpers too"
)]

mod advice;
mod backoff;
mod breaker;
mod budget;
mod default_backoff;
#[allow(dead_code, reason = "each test program uses a part of it")]
#[path = "../scenarios/support.rs"]
mod support;
