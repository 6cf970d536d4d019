//! Shared pieces of the test package.

mod crash_store;
mod import;

pub use crash_store::{CrashPoint, CrashStore, Moment};
pub use import::import;
