//! The bytes of a record: a version, a checksum, the value.
//!
//! `[version: 1 byte][crc32 of version and body: 4 bytes, big-endian][body: MessagePack]`. Every record of every store
//! is framed so, whatever the engine below checks by itself.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The version that this release writes. A later release reads all earlier ones.
pub const FORMAT_VERSION: u8 = 1;

const HEAD: usize = 5;

/// Frames a value.
///
/// # Panics
/// Never for the types of this crate: their serialization has no failing case.
#[must_use]
pub fn encode_record<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    bytes.extend([FORMAT_VERSION, 0, 0, 0, 0]);
    let mut serializer = rmp_serde::Serializer::new(&mut bytes).with_struct_map();
    value
        .serialize(&mut serializer)
        .expect("our own records always serialize into memory");
    let sum = checksum(FORMAT_VERSION, &bytes[HEAD..]);
    bytes[1..HEAD].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// Checks the frame and reads the value.
///
/// # Errors
/// [`FormatError`] if the record is cut, damaged, or newer than this release.
pub fn decode_record<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FormatError> {
    let Some((&[version, sum @ ..], body)) = bytes.split_first_chunk::<HEAD>() else {
        return Err(FormatError::Damaged {
            reason: format!("it is only {} bytes long", bytes.len()),
        });
    };
    if u32::from_be_bytes(sum) != checksum(version, body) {
        return Err(FormatError::Damaged {
            reason: "its checksum does not match".to_owned(),
        });
    }
    if version != FORMAT_VERSION {
        return Err(FormatError::Version { found: version });
    }
    rmp_serde::from_slice(body).map_err(|error| FormatError::Unreadable {
        reason: error.to_string(),
    })
}

fn checksum(version: u8, body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[version]);
    hasher.update(body);
    hasher.finalize()
}

/// Why a record cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The bytes are not the ones that were written.
    #[error("the record is damaged: {reason}")]
    Damaged {
        /// What was seen.
        reason: String,
    },
    /// A newer release wrote it.
    #[error(
        "the record has format version {found}, and this release reads versions up to {FORMAT_VERSION}: use the release that wrote it"
    )]
    Version {
        /// The version found.
        found: u8,
    },
    /// The bytes are whole but mean nothing to this release.
    #[error(
        "the record is whole, but this release cannot read it ({reason}): use the release that wrote it"
    )]
    Unreadable {
        /// What serde said.
        reason: String,
    },
}
