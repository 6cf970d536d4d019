//! When something is tried again.
//!
//! Owns the arithmetic of delays. Pure: time and randomness are passed in; must never know tokio or a
//! store.

mod backoff;

pub use backoff::{Backoff, InvalidBackoff, Jitter};
