//! What users and machines do that nobody planned for.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "what is wrong with a test ends the test"
)]

#[path = "../scenarios/support.rs"]
#[allow(dead_code, reason = "shared with the scenarios")]
mod support;

mod answers;
mod blocking;
mod endings;
mod lives;
