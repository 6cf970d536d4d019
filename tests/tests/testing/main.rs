//! What the test kit promises to those who test their own functions.
#![allow(clippy::panic, clippy::unwrap_used, reason = "this is a test")]

mod crashes;
mod deploys;
mod kit;
mod orders;
mod replays;
mod shop;
mod verify;
