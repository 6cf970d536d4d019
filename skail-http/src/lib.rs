//! HTTP for Skail's commands: one request per attempt, with the command's idempotency key, and an error
//! that knows whether another attempt can help.
//!
//! Skail repeats commands; an HTTP client that repeats requests inside of one would multiply both counts.
//! So nothing here loops. [`Http`] sends a request once, adds the key of the running command, and turns
//! everything but a success into an [`HttpError`] that carries the advice: try again as usual, try again
//! after the time that the server asked for, or do not try again.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use skail_http::{Http, HttpError};
//! use skail_runtime::prelude::*;
//!
//! #[derive(Serialize)]
//! struct Order { cents: u64 }
//!
//! #[derive(Serialize, Deserialize)]
//! struct Receipt { number: String }
//!
//! #[skail_command(retry_count = 8, timeout = "30s", idempotency_key = "charge-{order}")]
//! async fn charge(#[state] http: &Http, order: u64, cents: u64) -> Result<Receipt, HttpError> {
//!     http.post("https://gateway.example/charges").json(&Order { cents }).send().await?.json().await
//! }
//! ```
//!
//! Give the engine the client: `.state(Http::new(reqwest::Client::new()))`. Proxies, certificates and
//! pools are those of your `reqwest::Client`; for `https` let your own `reqwest` have a feature for TLS.
//! Set a `timeout` on the command: `reqwest` has none of its own.
//!
//! # What is tried again
//!
//! Whether a request can be repeated depends on whether the server can tell that it has seen it: it has an
//! idempotency key, or a method that means the same twice (`GET`, `PUT`, `DELETE`, …), or the call says
//! [`repeatable`](Call::repeatable).
//!
//! | outcome | repeatable | not repeatable |
//! | --- | --- | --- |
//! | refused, connect timeout, no such host | again | again: nothing was sent |
//! | reset, closed, timeout after sending, cut body | again | never: the server may have acted |
//! | a certificate or TLS error, a wrong URL, too many redirects | never | never |
//! | 408, 425, 429 | again | again |
//! | 409 | again: the first request may still be running | never |
//! | 503 | again | again if it says when (`Retry-After`), else never |
//! | 502, 504 | again | never |
//! | 500 | never, unless [`retry_500`](Call::retry_500) | never |
//! | any other status but success | never | never |
//! | an answer that is not what was expected ([`Answer::json`]) | never | never |
//!
//! `Retry-After` (seconds, or a date that is compared with the server's own `Date`) takes the place of the
//! backoff; what cannot be read or has passed says nothing. How long is too long, the engine decides
//! (`max_retry_after`).
//!
//! A refusal that means something to your business is not an error: [`Call::expect`] makes an answer of
//! it.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod answer;
mod call;
mod client;
mod error;
mod retry_after;
mod verdict;

pub use answer::Answer;
pub use call::Call;
pub use client::{Http, KeyFormat};
pub use error::{HttpError, HttpErrorKind};

pub use reqwest;
