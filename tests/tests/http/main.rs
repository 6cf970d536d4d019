//! Commands that call a server over HTTP, and a server that misbehaves: how many requests come, how many
//! effects they have, and how long it takes. The engine's clock is virtual, the sockets are real.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "what is wrong ends the test; servers have tasks and clocks of their own"
)]

mod answers;
mod broken;
mod secrets;
mod server;
mod shop;
mod waits;
