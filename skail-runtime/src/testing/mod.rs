//! What tests of durable functions need: an engine on a clock that jumps, substituted commands, crashes.
//!
//! Behind the feature `testing`. Must never be part of a production build.
//!
//! - [`TestSkail`] runs functions as a program does, in memory and in no time.
//! - [`crash_everywhere`] lets the process die before and after each commit of a function, and compares.
//! - [`explore_orders`] lets commands that run at the same time end in many orders.
//! - [`replay`] runs the histories of earlier builds against this one.
//! - [`CrashStore`] dies at one chosen commit.
//! - [`VirtualClock`] is the clock alone.
//!
//! `docs/testing.md` of the repository is a guide to all of it.

mod builder;
mod clock;
mod commands;
mod crash_everywhere;
mod crash_store;
mod difference;
mod kit;
mod order;
mod replay;

pub use builder::{Replace, TestBuilder};
pub use clock::VirtualClock;
pub use crash_everywhere::{CrashError, CrashReport, crash_everywhere};
pub use crash_store::{CrashPoint, CrashStore, Moment};
pub use kit::{SeenCommand, TestError, TestSkail};
pub use order::{OrderError, explore_orders};
pub use replay::replay;
