//! Numbers that are given out once in the life of a store.
//!
//! Owns the counter behind execution numbers, lease epochs, message ids and groups. Must never give out
//! a number again after a crash: each opening begins above everything that an earlier one can have used.

use std::sync::atomic::{AtomicU64, Ordering};

use super::keys::Stamp;

/// How far apart the first stamps of two openings are, as a power of two: 2^40 stamps for an opening,
/// 2^24 openings.
const OPENING_BITS: u32 = 40;

#[derive(Debug)]
pub(super) struct Stamps(AtomicU64);

impl Stamps {
    /// Continues at `first`.
    pub(super) fn from(first: Stamp) -> Self {
        Self(AtomicU64::new(first.0))
    }

    pub(super) fn next(&self) -> Stamp {
        Stamp(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// The first stamp of an opening after `used` was given out. An opening that used up its share went on
/// into the next one's, by less than a share since `used` was noted: that one is left out.
pub(super) fn opening_after(used: Stamp) -> Stamp {
    Stamp(((used.0 >> OPENING_BITS) + 2) << OPENING_BITS)
}
