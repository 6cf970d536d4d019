//! What is tried again, how often, and when: the promises about retries.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::type_complexity,
    reason = "what is wrong ends the test, in its helpers too; figures are printed"
)]

mod advice;
mod at_most_once;
mod backoff;
mod bench;
mod breaker;
mod breaker_rule;
mod budget;
mod default_backoff;
mod dependencies;
mod gateway;
mod held;
mod outage;
mod random_attempts;
#[allow(dead_code, reason = "each test program uses a part of it")]
#[path = "../scenarios/support.rs"]
mod support;
