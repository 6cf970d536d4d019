//! The names of things: executions, positions, workers, epochs.
//!
//! Owns what makes an execution id valid. Must never know where an id is stored.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The id of one execution, and the idempotency key of its start.
///
/// 1 to 200 bytes of UTF-8 without control characters, so that it can be a store key, a log field and a
/// line of a terminal.
///
/// ```
/// use skail_runtime::ExecutionId;
/// assert_eq!(ExecutionId::new("order-42")?.as_str(), "order-42");
/// assert!(ExecutionId::new("").is_err());
/// # Ok::<(), skail_runtime::InvalidId>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecutionId(Arc<str>);

/// The longest execution id, in bytes.
pub const MAX_ID_BYTES: usize = 200;

impl ExecutionId {
    /// Checks and takes an id.
    ///
    /// # Errors
    /// [`InvalidId`] if it is empty, longer than [`MAX_ID_BYTES`], or holds a control character.
    pub fn new(id: impl AsRef<str>) -> Result<Self, InvalidId> {
        let id = id.as_ref();
        let reason = if id.is_empty() {
            "it is empty"
        } else if id.len() > MAX_ID_BYTES {
            "it is longer than 200 bytes"
        } else if id.chars().any(char::is_control) {
            "it holds a control character"
        } else {
            return Ok(Self(Arc::from(id)));
        };
        let shown = id.chars().take(80).collect();
        Err(InvalidId { id: shown, reason })
    }

    /// A fresh id for an execution that its user did not name: a UUID version 7, so that ids made one
    /// after the other lie side by side in a store.
    #[must_use]
    pub fn generate() -> Self {
        Self(Arc::from(uuid::Uuid::now_v7().to_string()))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for ExecutionId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl Serialize for ExecutionId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ExecutionId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(text).map_err(serde::de::Error::custom)
    }
}

/// An execution id that cannot be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{id}` cannot be an execution id: {reason}; use 1 to 200 bytes without control characters, such as `order-42`"
)]
pub struct InvalidId {
    /// What was given, shortened.
    pub id: String,
    reason: &'static str,
}

/// The place of a step in its execution: 0, 1, 2 … in the order in which steps are first polled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(pub u32);

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// The place of an event in its execution's history: 0, 1, 2 … without gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sequence(pub u64);

impl Sequence {
    /// The place after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Which worker holds leases: one per started [`Skail`](crate::Skail).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WorkerId(pub uuid::Uuid);

impl WorkerId {
    /// A worker that nobody was before.
    #[must_use]
    pub fn generate() -> Self {
        Self(uuid::Uuid::now_v7())
    }
}

/// The fencing token of a lease: grows with every claim of an execution, so that a commit by an owner
/// that lost its lease can be told from one by the owner of today.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub u64);
