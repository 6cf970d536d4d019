//! The client that commands borrow, and what is the same for all of its calls.
//!
//! Owns the settings. Must never send anything by itself.

use reqwest::Method;

use crate::call::Call;

/// The header for the key unless another is set, as in the IETF's draft.
const KEY_HEADER: &str = "idempotency-key";

const BODY_LIMIT: usize = 16 << 20;

/// A `reqwest::Client` for use in commands. Cloning it is cheap; clones share its connections.
#[derive(Debug, Clone)]
pub struct Http {
    pub(crate) client: reqwest::Client,
    pub(crate) key_header: &'static str,
    pub(crate) key_format: KeyFormat,
    pub(crate) body_limit: usize,
}

/// How an idempotency key is written into its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum KeyFormat {
    /// As it is: what most services take.
    #[default]
    Plain,
    /// In quotes: a string of a structured field (RFC 8941), as the IETF's draft on the header wants it.
    Quoted,
}

impl Http {
    /// Sends through this client.
    #[must_use]
    pub fn new(client: reqwest::Client) -> Self {
        Self {
            client,
            key_header: KEY_HEADER,
            key_format: KeyFormat::Plain,
            body_limit: BODY_LIMIT,
        }
    }

    /// The name of the header that carries the idempotency key; `idempotency-key` unless set.
    ///
    /// # Panics
    /// Not here: a call whose header has an impossible name ends with an error of kind
    /// [`Request`](crate::HttpErrorKind::Request).
    #[must_use]
    pub fn key_header(mut self, name: &'static str) -> Self {
        self.key_header = name;
        self
    }

    /// How the key is written.
    #[must_use]
    pub fn key_format(mut self, format: KeyFormat) -> Self {
        self.key_format = format;
        self
    }

    /// The longest body that is read, in bytes; 16 MiB unless set.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.body_limit = bytes;
        self
    }

    /// The client behind it.
    #[must_use]
    pub fn client(&self) -> &reqwest::Client {
        &self.client
    }

    /// A request that is being put together.
    pub fn request(&self, method: Method, url: impl AsRef<str>) -> Call {
        Call::new(self, method, url.as_ref())
    }

    /// A `GET` request.
    pub fn get(&self, url: impl AsRef<str>) -> Call {
        self.request(Method::GET, url)
    }

    /// A `POST` request.
    pub fn post(&self, url: impl AsRef<str>) -> Call {
        self.request(Method::POST, url)
    }

    /// A `PUT` request.
    pub fn put(&self, url: impl AsRef<str>) -> Call {
        self.request(Method::PUT, url)
    }

    /// A `PATCH` request.
    pub fn patch(&self, url: impl AsRef<str>) -> Call {
        self.request(Method::PATCH, url)
    }

    /// A `DELETE` request.
    pub fn delete(&self, url: impl AsRef<str>) -> Call {
        self.request(Method::DELETE, url)
    }
}

impl Default for Http {
    fn default() -> Self {
        Self::new(reqwest::Client::new())
    }
}
