//! The Monitor over real HTTP: what it shows, what it does, and what it refuses.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what is wrong ends the test, in its helpers too"
)]

mod actions;
mod attacks;
mod browser;
mod clients;
mod log;
mod looks;
mod page;
mod shop;
mod tokens;
