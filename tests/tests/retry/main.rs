//! What is tried again, how often, and when: the promises about retries.

mod backoff;
mod default_backoff;
#[allow(dead_code, reason = "each test program uses a part of it")]
#[path = "../scenarios/support.rs"]
mod support;
mod typed_errors;
