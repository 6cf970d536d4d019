//! Whatever a function joins, races, drops and awaits, and wherever the process dies: the same way is
//! taken again, no two results are swapped, and nothing that was recorded runs again.
#![allow(clippy::panic, clippy::unwrap_used, reason = "this is a test")]

mod every_event;
mod every_wait;
mod harness;
mod program;
mod random_programs;
