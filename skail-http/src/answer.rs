//! A success, and its body.
//!
//! Owns the bounds on what is read. Must never take a body that was cut for a whole one.

use std::time::Duration;

use anyhow::anyhow;
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode};
use serde::de::DeserializeOwned;
use skail_runtime::Advice;

use crate::error::{HttpError, HttpErrorKind, Shown};
use crate::verdict::{Repeat, failed};

/// How much is kept of the body of an answer that is no success, and how long that may take to come: it
/// is for people, and must hold nobody up.
const BEGINNING: usize = 2_048;
const PATIENCE: Duration = Duration::from_secs(2);

/// The answer of a server to a request that it has done, its body not read yet.
#[derive(Debug)]
pub struct Answer {
    response: Response,
    shown: Shown,
    repeat: Repeat,
    limit: usize,
}

impl Answer {
    pub(crate) fn new(response: Response, shown: Shown, repeat: Repeat, limit: usize) -> Self {
        Self {
            response,
            shown,
            repeat,
            limit,
        }
    }

    /// The status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// The headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// `reqwest`'s own form, to read it in pieces for instance.
    #[must_use]
    pub fn into_inner(self) -> Response {
        self.response
    }

    /// The whole body.
    ///
    /// # Errors
    /// [`HttpError`]: of kind [`OutcomeUnknown`](HttpErrorKind::OutcomeUnknown) if it does not come whole,
    /// of kind [`Unexpected`](HttpErrorKind::Unexpected) if it is longer than
    /// [`Http::body_limit`](crate::Http::body_limit).
    pub async fn bytes(mut self) -> Result<Vec<u8>, HttpError> {
        let mut body = Vec::new();
        loop {
            match self.response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > self.limit => {
                    let limit = self.limit;
                    return Err(unexpected(
                        &self.shown,
                        anyhow!("it has more than {limit} bytes"),
                    ));
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => return Ok(body),
                Err(error) => return Err(failed(&self.shown, error, self.repeat)),
            }
        }
    }

    /// The whole body, as UTF-8 text.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes); also of kind [`Unexpected`](HttpErrorKind::Unexpected) if it is no text.
    pub async fn text(self) -> Result<String, HttpError> {
        let shown = self.shown.clone();
        String::from_utf8(self.bytes().await?).map_err(|error| unexpected(&shown, error.into()))
    }

    /// The whole body, read as JSON.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes); also of kind [`Unexpected`](HttpErrorKind::Unexpected) if it is no JSON
    /// or not that of a `T`: the request was done, so it is not sent again.
    pub async fn json<T: DeserializeOwned>(self) -> Result<T, HttpError> {
        let shown = self.shown.clone();
        let body = self.bytes().await?;
        serde_json::from_slice(&body).map_err(|error| unexpected(&shown, error.into()))
    }
}

fn unexpected(shown: &Shown, cause: anyhow::Error) -> HttpError {
    HttpError::new(shown, HttpErrorKind::Unexpected, Advice::Permanent, cause)
}

/// The beginning of a body, as far as it comes in time. The rest is left: the connection is closed.
pub(crate) async fn beginning(mut response: Response) -> String {
    let mut body = Vec::new();
    let reading = async {
        while body.len() < BEGINNING {
            match response.chunk().await {
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) | Err(_) => break,
            }
        }
    };
    // Out of time, what has come by then is what there is.
    let _ = tokio::time::timeout(PATIENCE, reading).await;
    body.truncate(BEGINNING);
    String::from_utf8_lossy(&body).into_owned()
}
