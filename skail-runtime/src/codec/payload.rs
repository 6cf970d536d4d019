//! One recorded value: its bytes, and the way into and out of them.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Digest;
use super::readable::{self, Readable};
use super::survive::{same_but_for_order, write_surviving};
use super::text::shorten;

/// How much is kept of what serde says about a value, in bytes.
const MOST_SAID: usize = 1_000;

/// A recorded value: MessagePack with field names, so that fields can be added later and the value can
/// be shown without its Rust type.
#[derive(Clone, PartialEq, Eq)]
pub struct Payload(Arc<[u8]>);

impl Payload {
    /// Encodes a value.
    ///
    /// # Errors
    /// [`PayloadError::Encode`] with what serde said.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, PayloadError> {
        let mut bytes = Vec::with_capacity(64);
        write_value(&mut bytes, value)?;
        Ok(Self(bytes.into()))
    }

    /// Decodes the value.
    ///
    /// # Errors
    /// [`PayloadError::Decode`] with the wanted type and what serde said; also when bytes are left over.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, PayloadError> {
        let mut reader = PayloadReader::new(&self.0);
        let value = reader.value()?;
        reader.end::<T>()?;
        Ok(value)
    }

    /// The digest by which two payloads are told apart; the order of map entries does not matter.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(&self.0)
    }

    /// Whether nothing but the order of map entries and sequence elements differs.
    #[must_use]
    pub fn same_but_for_order(&self, other: &Self) -> bool {
        same_but_for_order(&self.0, &other.0)
    }

    /// The payload of an empty list of arguments.
    #[must_use]
    pub(crate) fn nothing() -> Self {
        PayloadWriter::array(0).finish()
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Takes bytes that a store kept.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(Arc::from(bytes))
    }

    /// The value as text for people: like JSON, cut with a marker after `limit` characters.
    #[must_use]
    pub fn preview(&self, limit: usize) -> String {
        let shown = match rmpv::decode::read_value_ref(&mut &*self.0) {
            Ok(value) => value.to_string(),
            Err(_) => format!("{} bytes that are not MessagePack", self.0.len()),
        };
        match shown.char_indices().nth(limit) {
            Some((end, _)) => format!("{}… ({} bytes)", &shown[..end], self.0.len()),
            None => shown,
        }
    }
}

pub(super) fn write_value<T: Serialize + ?Sized>(
    bytes: &mut Vec<u8>,
    value: &T,
) -> Result<(), PayloadError> {
    let mut serializer = rmp_serde::Serializer::new(bytes)
        .with_struct_map()
        .with_human_readable();
    value
        .serialize(&mut serializer)
        .map_err(|error| PayloadError::Encode {
            wanted: std::any::type_name::<T>(),
            reason: said(&error),
        })
}

/// Reads one value; gives what is left of the bytes too.
pub(super) fn read_value<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), PayloadError> {
    let mut deserializer = rmp_serde::Deserializer::new(bytes).with_human_readable();
    let value = T::deserialize(&mut deserializer).map_err(|error| PayloadError::Decode {
        wanted: std::any::type_name::<T>(),
        reason: said(&error),
    })?;
    Ok((value, deserializer.into_inner()))
}

/// What serde said; it likes to quote the value, however large.
fn said(error: &impl fmt::Display) -> String {
    shorten(error.to_string(), MOST_SAID)
}

/// Writes the arguments of a call: an array with one value per parameter.
#[derive(Debug)]
pub(crate) struct PayloadWriter(Vec<u8>);

impl PayloadWriter {
    /// An array that will get `count` values.
    pub(crate) fn array(count: u32) -> Self {
        let mut bytes = Vec::with_capacity(64);
        // The three array headers of MessagePack, by length; a Vec takes any write.
        match u8::try_from(count) {
            Ok(short @ 0..=15) => bytes.push(0x90 | short),
            _ => match u16::try_from(count) {
                Ok(medium) => {
                    bytes.push(0xdc);
                    bytes.extend_from_slice(&medium.to_be_bytes());
                }
                Err(_) => {
                    bytes.push(0xdd);
                    bytes.extend_from_slice(&count.to_be_bytes());
                }
            },
        }
        Self(bytes)
    }

    /// Adds one value, which has to come back as what it was.
    pub(crate) fn value<T: Serialize + DeserializeOwned>(
        &mut self,
        value: &T,
    ) -> Result<(), PayloadError> {
        write_surviving(&mut self.0, value)
    }

    /// The finished payload.
    pub(crate) fn finish(self) -> Payload {
        Payload(self.0.into())
    }
}

/// Reads values one after the other.
#[derive(Debug)]
pub(crate) struct PayloadReader<'a>(&'a [u8]);

impl<'a> PayloadReader<'a> {
    /// Reads from the start.
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Reads the head of an array and gives its length.
    pub(crate) fn array(&mut self) -> Result<u32, PayloadError> {
        let bad = |reason: &str| PayloadError::Decode {
            wanted: "a list of arguments",
            reason: reason.to_owned(),
        };
        let (&head, rest) = self
            .0
            .split_first()
            .ok_or_else(|| bad("there are no bytes"))?;
        let (length, rest) = match head {
            0x90..=0x9f => (u32::from(head & 0x0f), rest),
            0xdc => {
                let (bytes, rest) = rest
                    .split_first_chunk()
                    .ok_or_else(|| bad("it is cut off"))?;
                (u32::from(u16::from_be_bytes(*bytes)), rest)
            }
            0xdd => {
                let (bytes, rest) = rest
                    .split_first_chunk()
                    .ok_or_else(|| bad("it is cut off"))?;
                (u32::from_be_bytes(*bytes), rest)
            }
            _ => return Err(bad("it is not a list")),
        };
        self.0 = rest;
        Ok(length)
    }

    /// Reads one value.
    pub(crate) fn value<T: DeserializeOwned>(&mut self) -> Result<T, PayloadError> {
        let (value, rest) = read_value(self.0)?;
        self.0 = rest;
        Ok(value)
    }

    /// Demands that nothing is left.
    pub(crate) fn end<T>(&self) -> Result<(), PayloadError> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(PayloadError::Decode {
            wanted: std::any::type_name::<T>(),
            reason: format!("{} bytes are left over", self.0.len()),
        })
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.preview(200))
    }
}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return Readable::of(self).serialize(serializer);
        }
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl serde::de::Visitor<'_> for Bytes {
            type Value = Payload;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Payload, E> {
                Ok(Payload(Arc::from(bytes)))
            }
            fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Payload, E> {
                Ok(Payload(bytes.into()))
            }
        }
        if deserializer.is_human_readable() {
            return readable::deserialize(deserializer);
        }
        deserializer.deserialize_byte_buf(Bytes)
    }
}

/// Why a value could not be recorded or read back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// serde could not write it.
    #[error("a value of type `{wanted}` cannot be recorded: {reason}")]
    Encode {
        /// The Rust type.
        wanted: &'static str,
        /// What serde said.
        reason: String,
    },
    /// serde could not read it.
    #[error("the recorded value cannot be read as `{wanted}`: {reason}")]
    Decode {
        /// The Rust type.
        wanted: &'static str,
        /// What serde said.
        reason: String,
    },
    /// It would come back as something else.
    #[error(
        "a value of type `{wanted}` does not survive being recorded: {reason}; record a type that serde \
         gives back as it took it"
    )]
    Changes {
        /// The Rust type.
        wanted: &'static str,
        /// What was seen.
        reason: String,
    },
    /// It is larger than a record may be.
    #[error(
        "a value of type `{wanted}` takes {size} bytes, more than the limit of {limit}; keep large data \
         outside and record where it is, or raise `Builder::payload_limit`"
    )]
    TooLarge {
        /// The Rust type.
        wanted: &'static str,
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
}
