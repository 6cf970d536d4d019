//! One request, put together and sent once.
//!
//! Owns the key that goes with it and what becomes of the answer. Must never send twice: who repeats is
//! the engine.

use std::time::{Duration, SystemTime};

use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde::Serialize;
use skail_runtime::clock::SystemClock;
use tracing::Instrument as _;

use crate::answer::{Answer, beginning};
use crate::client::{Http, KeyFormat};
use crate::error::{HttpError, Shown};
use crate::retry_after;
use crate::verdict::{self, Repeat};

/// A request that is being put together; [`send`](Self::send) sends it.
///
/// ```
/// # use skail_http::{Http, HttpError};
/// # use skail_runtime::prelude::*;
/// # use std::time::Duration;
/// /// `None`: the card was declined, which is an answer and no error.
/// #[skail_command(retry_count = 8, timeout = "30s")]
/// async fn capture(#[state] http: &Http, charge: String) -> Result<Option<String>, HttpError> {
///     let answer = http
///         .post(format!("https://gateway.example/charges/{charge}/capture"))
///         .configure(|request| request.bearer_auth("secret").timeout(Duration::from_secs(10)))
///         .expect(402)
///         .send()
///         .await?;
///     match answer.status().as_u16() {
///         402 => Ok(None),
///         _ => Ok(Some(answer.text().await?)),
///     }
/// }
/// ```
#[derive(Debug)]
#[must_use = "a request does nothing until `.send().await`"]
pub struct Call {
    http: Http,
    method: Method,
    url: String,
    request: RequestBuilder,
    key: Key,
    repeatable: bool,
    retry_500: bool,
    expected: Vec<u16>,
}

#[derive(Debug)]
enum Key {
    /// The command's, for methods that need one.
    OfTheCommand,
    /// The command's, with something that tells this request from its others.
    With(String),
    Given(String),
    None,
}

impl Call {
    pub(crate) fn new(http: &Http, method: Method, url: &str) -> Self {
        Self {
            http: http.clone(),
            request: http.client.request(method.clone(), url),
            url: shown(url),
            method,
            key: Key::OfTheCommand,
            repeatable: false,
            retry_500: false,
            expected: Vec::new(),
        }
    }

    /// Sends this value as JSON.
    pub fn json<T: Serialize + ?Sized>(self, body: &T) -> Self {
        self.configure(|request| request.json(body))
    }

    /// Adds a header.
    pub fn header(self, name: &str, value: &str) -> Self {
        self.configure(|request| request.header(name, value))
    }

    /// Does with the request what `reqwest` can: another body, credentials, a query, a timeout.
    pub fn configure(mut self, change: impl FnOnce(RequestBuilder) -> RequestBuilder) -> Self {
        self.request = change(self.request);
        self
    }

    /// Adds to the command's key, which is the same for all requests of one command: needed when a command
    /// has more than one effect, or the server takes the second for the first. (Two commands with an effect
    /// each are better: the first is then not repeated when the second fails.)
    pub fn key_suffix(mut self, suffix: impl Into<String>) -> Self {
        self.key = Key::With(suffix.into());
        self
    }

    /// Sends this key in place of the command's. It must be the same in every attempt. An empty one is
    /// none.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Key::Given(key.into());
        self
    }

    /// Sends no key, for servers that refuse the header. A `POST` or `PATCH` whose outcome is unknown is
    /// then not sent again, unless it is [`repeatable`](Self::repeatable).
    pub fn without_key(mut self) -> Self {
        self.key = Key::None;
        self
    }

    /// Says that the request may be done twice, whatever its method: a search by `POST`, for instance.
    pub fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    /// Tries again after status 500 too, if the request can be repeated. Not by default: many servers
    /// keep a 500 under its key and answer every further attempt with it.
    pub fn retry_500(mut self) -> Self {
        self.retry_500 = true;
        self
    }

    /// Takes this status for an answer, not for an error: a refusal that your business knows about.
    pub fn expect(mut self, status: u16) -> Self {
        self.expected.push(status);
        self
    }

    /// Sends the request, once.
    ///
    /// Call it in a command: elsewhere there is no idempotency key that would be the same the next time,
    /// and a warning is logged.
    ///
    /// # Errors
    /// [`HttpError`] for everything but a success or a status that was [expected](Self::expect).
    pub async fn send(self) -> Result<Answer, HttpError> {
        let key = self.key_to_send();
        let keyed = key.is_some();
        let shown = Shown {
            method: self.method.to_string(),
            url: self.url,
            keyed,
        };
        let repeat = Repeat::of(&self.method, keyed, self.repeatable);
        let request = match key.map(|key| header(&key, self.http.key_format)) {
            Some(value) => self.request.header(self.http.key_header, value),
            None => self.request,
        };
        let span = tracing::info_span!(
            "http",
            method = %shown.method,
            url = %shown.url,
            status = tracing::field::Empty,
        );
        let response = request.send().instrument(span.clone()).await;
        let response = match response {
            Ok(response) => response,
            Err(error) => return Err(verdict::failed(&shown, error, repeat)),
        };
        let status = response.status();
        span.record("status", status.as_u16());
        if status.is_success() || self.expected.contains(&status.as_u16()) {
            return Ok(Answer::new(response, shown, repeat, self.http.body_limit));
        }
        Err(refused(response, &shown, status, repeat, self.retry_500).await)
    }

    fn key_to_send(&self) -> Option<String> {
        let of_the_command = skail_runtime::idempotency_key;
        let key = match &self.key {
            // RFC 9110 has the others mean the same twice.
            Key::OfTheCommand if self.method.is_idempotent() => None,
            Key::OfTheCommand => Some(of_the_command()),
            Key::With(suffix) => Some(format!("{}/{suffix}", of_the_command())),
            Key::Given(key) => Some(key.clone()),
            Key::None => None,
        };
        // An empty one tells no request from another.
        key.filter(|key| !key.is_empty())
    }
}

/// What an answer that is no success says; reads the beginning of its body.
async fn refused(
    response: Response,
    shown: &Shown,
    status: StatusCode,
    repeat: Repeat,
    retry_500: bool,
) -> HttpError {
    let wait = retry_after::wait(response.headers(), now());
    let advice = verdict::of_status(status, repeat, retry_500, wait);
    let headers = response.headers().clone();
    let body = beginning(response).await;
    HttpError::of_answer(shown, status, &headers, body, advice)
}

fn now() -> SystemTime {
    let millis = SystemClock::shared().now().as_millis();
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

/// A URL as it may be shown.
fn shown(url: &str) -> String {
    let Ok(mut url) = Url::parse(url) else {
        // Whatever it is, it may have a secret in it.
        return "(no URL)".to_owned();
    };
    url.set_fragment(None);
    if url.query().is_some() {
        url.set_query(Some("…"));
    }
    // What cannot have them has none.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.to_string().replace("%E2%80%A6", "…")
}

/// A key as the value of a header: other bytes than visible ASCII are written as in URLs.
fn header(key: &str, format: KeyFormat) -> Vec<u8> {
    let mut value = Vec::with_capacity(key.len() + 2);
    for byte in key.bytes() {
        match byte {
            b'%' | ..=0x20 | 0x7f.. => value.extend(format!("%{byte:02X}").into_bytes()),
            b'"' | b'\\' if format == KeyFormat::Quoted => value.extend([b'\\', byte]),
            _ => value.push(byte),
        }
    }
    match format {
        KeyFormat::Plain => value,
        KeyFormat::Quoted => [b"\"".as_slice(), &value, b"\""].concat(),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn a_url_is_shown_without_its_secrets() {
        let rows = [
            ("https://x.example/a/b", "https://x.example/a/b"),
            (
                "https://me:pass@x.example/a?token=1&b=2#part",
                "https://x.example/a?…",
            ),
            ("token=123", "(no URL)"),
            ("", "(no URL)"),
        ];
        for (url, expected) in rows {
            assert_eq!(shown(url), expected);
        }
    }

    #[test]
    fn an_empty_key_is_none_and_a_suffix_tells_requests_apart() {
        let http = Http::default();
        let key = |call: Call| call.key_to_send();
        let post = || http.post("https://x.example/");
        assert_eq!(key(post().key("")), None);
        assert_eq!(key(post().key("charge-17")).as_deref(), Some("charge-17"));
        assert_eq!(key(post().without_key()), None);
        assert_eq!(key(http.get("https://x.example/")), None);
        assert!(
            key(post().key_suffix("capture"))
                .unwrap()
                .ends_with("/capture")
        );
    }

    #[test]
    fn any_key_is_a_header_and_no_two_are_the_same() {
        let keys = [
            "charge-17",
            "a b",
            "a%20b",
            "ação",
            "line\nbreak",
            "\"q\\\"",
            "",
        ];
        for format in [KeyFormat::Plain, KeyFormat::Quoted] {
            let values = keys.map(|key| header(key, format));
            for value in &values {
                assert!(HeaderValue::from_bytes(value).is_ok());
                assert!(value.is_ascii());
            }
            for (index, value) in values.iter().enumerate() {
                assert!(!values[..index].contains(value));
            }
        }
        assert_eq!(header("charge-17", KeyFormat::Plain), b"charge-17");
        assert_eq!(header("a\"b", KeyFormat::Quoted), b"\"a\\\"b\"");
    }
}
