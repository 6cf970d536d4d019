//! What is said of a setting that cannot work.
//!
//! Owns the one error of all settings of this module. Must never be about a value that works badly: only
//! about one that cannot work at all.

/// A setting that could never do what it is for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{setting}` cannot be used: {reason}")]
pub struct InvalidSetting {
    /// Its name, as it is written in the code.
    pub setting: &'static str,
    /// Why.
    pub reason: &'static str,
}

impl InvalidSetting {
    pub(crate) const fn new(setting: &'static str, reason: &'static str) -> Self {
        Self { setting, reason }
    }
}
