//! What tests of durable functions need: a clock that they control.
//!
//! Behind the feature `testing`. Must never be part of a production build.

mod clock;

pub use clock::VirtualClock;
