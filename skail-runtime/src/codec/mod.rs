//! How values become bytes and come back.
//!
//! Owns the payload format (MessagePack with field names and human-readable types), the digest of
//! arguments, and the check that a value survives being recorded. Must never know what a payload is
//! used for.

mod canonical;
mod look;
mod payload;
mod readable;
mod survive;
mod text;
mod wrap;

pub use payload::{Payload, PayloadError};
pub use wrap::{Codec, CodecError};

pub use canonical::Digest;
pub(crate) use payload::{PayloadReader, PayloadWriter};
pub(crate) use survive::encode_surviving;
pub(crate) use text::shorten;
