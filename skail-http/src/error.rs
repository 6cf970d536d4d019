//! What went wrong with a request, and whether another attempt can help.
//!
//! Owns what is kept of an answer that is no success: the status, a few headers, the beginning of the
//! body. Must never keep credentials: no request header, no query, no user of a URL.

use std::error::Error as StdError;
use std::fmt;

use anyhow::anyhow;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde::{Deserialize, Serialize};
use skail_runtime::{Advice, RetryAdvice, permanent, retry_after};

/// The headers of an answer that help to find out what happened.
const TELLING: [&str; 8] = [
    "content-type",
    "date",
    "retry-after",
    "request-id",
    "x-request-id",
    "x-correlation-id",
    "idempotency-replayed",
    "cf-ray",
];

/// A request that did not come to a success.
///
/// Whether another attempt can help is said by [`RetryAdvice`], and by its sources too: a command may
/// return it as it is, or let `?` turn it into an `anyhow::Error`. Recorded with the command's failure,
/// it comes back with [`CommandError::downcast`](skail_runtime::CommandError::downcast):
///
/// ```
/// # use skail_http::{Http, HttpError};
/// # use skail_runtime::prelude::*;
/// #[skail_command]
/// async fn fetch(#[state] http: &Http, name: String) -> Result<String, HttpError> {
///     http.get(format!("https://names.example/{name}")).send().await?.text().await
/// }
///
/// #[skail_function]
/// async fn is_known(name: String) -> anyhow::Result<bool> {
///     match fetch(name).await {
///         Ok(_) => Ok(true),
///         Err(error) => match error.downcast::<HttpError>().and_then(|error| error.status()) {
///             Some(404) => Ok(false),
///             _ => Err(error.into()),
///         },
///     }
/// }
/// ```
#[derive(Debug, Serialize, Deserialize)]
pub struct HttpError {
    kind: HttpErrorKind,
    method: String,
    url: String,
    status: Option<u16>,
    headers: Vec<(String, String)>,
    body: String,
    advice: Advice,
    keyed: bool,
    /// Says the same advice to whoever only sees an error, and what the library said.
    #[serde(skip)]
    cause: Option<anyhow::Error>,
}

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum HttpErrorKind {
    /// The server answered with a status that is no success.
    Status,
    /// Nothing was sent: there was no connection.
    NotSent,
    /// It was sent, or may have been, and no whole answer came.
    OutcomeUnknown,
    /// The other side could not be trusted: a certificate, or TLS itself.
    Tls,
    /// The request cannot be made: its URL, a header, too many redirects.
    Request,
    /// The answer is a success, but not what was expected.
    Unexpected,
}

/// Which request it was, as far as it may be shown.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) keyed: bool,
}

impl HttpError {
    pub(crate) fn new(
        shown: &Shown,
        kind: HttpErrorKind,
        advice: Advice,
        cause: anyhow::Error,
    ) -> Self {
        let cause = match advice {
            Advice::Permanent => permanent(cause),
            Advice::After(time) => retry_after(cause, time),
            _ => cause,
        };
        Self {
            kind,
            method: shown.method.clone(),
            url: shown.url.clone(),
            status: None,
            headers: Vec::new(),
            body: String::new(),
            advice,
            keyed: shown.keyed,
            cause: Some(cause),
        }
    }

    pub(crate) fn of_answer(
        shown: &Shown,
        status: StatusCode,
        headers: &HeaderMap,
        body: String,
        advice: Advice,
    ) -> Self {
        let cause = match advice {
            Advice::Permanent => anyhow!("no other attempt would change this answer"),
            Advice::After(time) => anyhow!("the server asks for a wait of {time:?}"),
            _ => anyhow!("another attempt may help"),
        };
        let telling = TELLING.iter().filter_map(|name| {
            let value = headers.get(*name)?.to_str().ok()?;
            Some(((*name).to_owned(), value.to_owned()))
        });
        Self {
            status: Some(status.as_u16()),
            headers: telling.collect(),
            body,
            ..Self::new(shown, HttpErrorKind::Status, advice, cause)
        }
    }

    /// What kind of failure it was.
    #[must_use]
    pub fn kind(&self) -> HttpErrorKind {
        self.kind
    }

    /// The status that the server answered with, if it answered.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// A header of the answer, if it is one of those that are kept: content type, date, `Retry-After`,
    /// and what servers call the id of a request. The name is in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The first 2 KiB of the answer's body, as text.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The request's method and URL, without user, password, query and fragment.
    #[must_use]
    pub fn request(&self) -> (&str, &str) {
        (&self.method, &self.url)
    }
}

impl RetryAdvice for HttpError {
    fn advice(&self) -> Advice {
        self.advice
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (method, url) = (&self.method, &self.url);
        let gave_up = self.advice == Advice::Permanent;
        match (self.kind, self.status) {
            (HttpErrorKind::NotSent, _) => write!(f, "{method} {url} was not sent"),
            (HttpErrorKind::OutcomeUnknown, _) if gave_up => write!(
                f,
                "whether {method} {url} was done is unknown, and it is not sent again, because it could \
                 be done twice: let it have an idempotency key, or call `repeatable()` if twice is as \
                 good as once"
            ),
            (HttpErrorKind::OutcomeUnknown, _) => {
                write!(f, "whether {method} {url} was done is unknown")
            }
            (HttpErrorKind::Tls, _) => write!(
                f,
                "{method} {url} was not sent: the other side is not to be trusted"
            ),
            (HttpErrorKind::Request, _) => write!(f, "{method} {url} cannot be sent"),
            (HttpErrorKind::Unexpected, _) => {
                write!(
                    f,
                    "{method} {url} was done, but its answer is not what was expected"
                )
            }
            (HttpErrorKind::Status, status) => {
                let status = status.and_then(|status| StatusCode::from_u16(status).ok());
                write!(
                    f,
                    "{method} {url} was answered with {}",
                    status.unwrap_or_default()
                )?;
                if self.keyed && status == Some(StatusCode::UNPROCESSABLE_ENTITY) {
                    f.write_str(
                        ", which can mean that its idempotency key was used with another body",
                    )?;
                }
                let beginning: String = self.body.chars().take(200).collect();
                if beginning.is_empty() {
                    Ok(())
                } else {
                    write!(f, ": {}", beginning.escape_debug())
                }
            }
        }
    }
}

impl StdError for HttpError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause.as_ref().map(|cause| {
            let cause: &(dyn StdError + 'static) = cause.as_ref();
            cause
        })
    }
}
