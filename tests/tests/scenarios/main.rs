//! What users rely on, one file per promise, against the memory store and a virtual clock.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what is wrong ends the test, in its helpers too"
)]

mod attempts;
mod bounds;
mod building;
mod changed_values;
mod codec;
mod crashes;
mod delays;
mod deploying;
mod divergence;
mod dropped;
mod elapsed;
mod errors;
mod idempotency;
mod inside_wakes;
mod interrupted;
mod misplaced;
mod panics;
mod patches;
mod payloads;
mod places;
mod redelivery;
mod restart;
mod resume;
mod retention;
mod shutdown;
mod sleeps;
mod start;
mod support;
mod timeouts;
mod unreachable;
mod unrecorded;
mod values;
mod waiting;
mod workers;
