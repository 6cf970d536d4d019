//! What users rely on, one file per promise, against the memory store and a virtual clock.

mod attempts;
mod building;
mod changed_values;
mod codec;
mod crashes;
mod delays;
mod divergence;
mod inside_wakes;
mod misplaced;
mod panics;
mod redelivery;
mod resume;
mod shutdown;
mod start;
mod support;
mod timeouts;
mod unrecorded;
