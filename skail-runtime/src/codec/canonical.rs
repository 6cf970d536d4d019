//! The digest of a payload: equal for equal values, whatever the order of their map entries.
//!
//! A `HashMap` is written in another order by every process, and a field may move within its struct:
//! neither is another value. So maps are hashed with their entries sorted by their encoded keys. A
//! payload without maps is its own canonical form and is hashed as it stands.

use std::fmt;

use rmpv::ValueRef;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// The first 16 bytes of the SHA-256 of a payload's canonical form.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(u128);

/// As hexadecimal digits where people read it, since readers of JSON round large numbers; else the number.
impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_str(self);
        }
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let digits = String::deserialize(deserializer)?;
            return u128::from_str_radix(&digits, 16)
                .map(Self)
                .map_err(|error| D::Error::custom(format!("the digest `{digits}`: {error}")));
        }
        u128::deserialize(deserializer).map(Self)
    }
}

impl Digest {
    pub(super) fn of(payload: &[u8]) -> Self {
        let hash = match rmpv::decode::read_value_ref(&mut &*payload) {
            Ok(value) if has_map(&value) => Sha256::digest(canonical(&value, Sequences::Kept)),
            // No maps, or not MessagePack at all: the bytes stand for themselves.
            _ => Sha256::digest(payload),
        };
        let mut first = [0; 16];
        first.copy_from_slice(&hash[..16]);
        Self(u128::from_be_bytes(first))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn has_map(value: &ValueRef<'_>) -> bool {
    match value {
        ValueRef::Map(_) => true,
        ValueRef::Array(items) => items.iter().any(has_map),
        _ => false,
    }
}

/// Whether the order of sequence elements is part of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sequences {
    /// It is: `[1, 2]` and `[2, 1]` differ.
    Kept,
    /// It is not: what a `HashSet` needs.
    Sorted,
}

/// The canonical bytes of a value: maps sorted by key, sequences as asked.
pub(super) fn canonical(value: &ValueRef<'_>, sequences: Sequences) -> Vec<u8> {
    match value {
        ValueRef::Map(entries) => {
            let mut parts: Vec<Vec<u8>> = entries
                .iter()
                .map(|(key, value)| {
                    let mut entry = canonical(key, sequences);
                    entry.extend(canonical(value, sequences));
                    entry
                })
                .collect();
            parts.sort_unstable();
            joined(b'm', &parts)
        }
        ValueRef::Array(items) => {
            let mut parts: Vec<Vec<u8>> = items
                .iter()
                .map(|item| canonical(item, sequences))
                .collect();
            if sequences == Sequences::Sorted {
                parts.sort_unstable();
            }
            joined(b'a', &parts)
        }
        leaf => {
            let mut bytes = Vec::new();
            rmpv::encode::write_value_ref(&mut bytes, leaf).expect("a Vec takes any write");
            bytes
        }
    }
}

/// Parts with their lengths before them, so that two lists of parts never join to the same bytes.
fn joined(kind: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend((parts.len() as u64).to_be_bytes());
    for part in parts {
        bytes.extend((part.len() as u64).to_be_bytes());
        bytes.extend(part);
    }
    bytes
}
