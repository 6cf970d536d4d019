//! Shared pieces of the test package.
#![allow(clippy::panic, reason = "what is wrong with a test ends the test")]

mod import;
mod unsteady_store;

pub use import::import;
pub use skail_runtime::testing::{CrashPoint, CrashStore, Moment};
pub use unsteady_store::{Cuts, Line, UnsteadyStore};
