//! What a user can put between a payload and the store.

/// Changes payloads on their way into the store and back: compression, encryption.
///
/// It sees the bytes of arguments, results and typed errors. Names, times, digests, error texts and the
/// messages of blocked executions (which show arguments, shortened) are
/// not payloads and stay readable: a digest is 16 bytes of a SHA-256 over the plain arguments, so do not
/// rely on a codec to hide arguments that can be guessed.
///
/// Payloads written by another codec, or by none, come to [`decode`](Codec::decode) as they were written:
/// put a key id or a version in front of what you write, so that keys can be changed and old payloads
/// stay readable.
///
/// ```
/// use skail_runtime::codec::{Codec, CodecError};
///
/// /// Marks what it wrote; a real one would encrypt.
/// struct Marked;
///
/// impl Codec for Marked {
///     fn encode(&self, plain: &[u8]) -> Result<Vec<u8>, CodecError> {
///         Ok([b"v1:", plain].concat())
///     }
///     fn decode(&self, stored: &[u8]) -> Result<Vec<u8>, CodecError> {
///         stored.strip_prefix(b"v1:").map(<[u8]>::to_vec).ok_or_else(|| "no mark of ours".into())
///     }
/// }
/// ```
pub trait Codec: Send + Sync + 'static {
    /// The bytes to store.
    ///
    /// # Errors
    /// What went wrong; the write is tried again, since nothing was lost yet.
    fn encode(&self, plain: &[u8]) -> Result<Vec<u8>, CodecError>;

    /// The bytes as they were.
    ///
    /// # Errors
    /// What went wrong; the execution is set aside as damaged and the others go on.
    fn decode(&self, stored: &[u8]) -> Result<Vec<u8>, CodecError>;
}

/// Whatever a codec finds wrong.
pub type CodecError = Box<dyn std::error::Error + Send + Sync>;
