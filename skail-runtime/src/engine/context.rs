//! Which execution or command the running code belongs to.

use std::cell::RefCell;

thread_local! {
    static KEY: RefCell<Option<String>> = const { RefCell::new(None) };
}

pub(crate) fn set_business_key(key: String) {
    KEY.with(|slot| *slot.borrow_mut() = Some(key));
}

/// placeholder
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptInfo {
    /// From 1.
    pub number: u32,
    /// In all.
    pub of: u32,
}

/// placeholder
#[must_use]
pub fn attempt() -> AttemptInfo {
    AttemptInfo { number: 1, of: 1 }
}

/// placeholder
#[must_use]
pub fn idempotency_key() -> String {
    String::new()
}
