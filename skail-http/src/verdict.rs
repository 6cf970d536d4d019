//! Which outcomes are tried again.
//!
//! Owns the table in the crate's documentation. Pure: must never look at a clock or a connection.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use reqwest::{Method, StatusCode};
use skail_runtime::Advice;

use crate::error::{HttpError, HttpErrorKind, Shown};

/// Whether the server can tell that it has seen a request before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    Harmless,
    MayActTwice,
}

impl Repeat {
    pub(crate) fn of(method: &Method, keyed: bool, by_word: bool) -> Self {
        // RFC 9110, 9.2.2.
        if keyed || by_word || method.is_idempotent() {
            Self::Harmless
        } else {
            Self::MayActTwice
        }
    }

    fn advice(self) -> Advice {
        match self {
            Self::Harmless => Advice::Usual,
            Self::MayActTwice => Advice::Permanent,
        }
    }
}

/// What an answer that is no success says. `wait` is what `Retry-After` says.
pub(crate) fn of_status(
    status: StatusCode,
    repeat: Repeat,
    retry_500: bool,
    wait: Option<Duration>,
) -> Advice {
    let advice = match status.as_u16() {
        408 | 425 | 429 => Advice::Usual,
        503 if wait.is_some() => Advice::Usual,
        409 | 502 | 503 | 504 => repeat.advice(),
        500 if retry_500 => repeat.advice(),
        _ => Advice::Permanent,
    };
    match (advice, wait) {
        (Advice::Usual, Some(wait)) => Advice::After(wait),
        (advice, _) => advice,
    }
}

/// What a request without a whole answer came to.
pub(crate) fn failed(shown: &Shown, error: reqwest::Error, repeat: Repeat) -> HttpError {
    let (kind, advice) = of_failure(&error, repeat);
    let no_tls = shown.url.starts_with("https") && is_scheme(&error);
    // Its text would show the URL's query.
    let mut cause = anyhow::Error::new(error.without_url());
    if no_tls {
        cause = cause.context(
            "this program's `reqwest` has no TLS: give it a feature for it, such as `rustls`",
        );
    }
    HttpError::new(shown, kind, advice, cause)
}

fn of_failure(error: &reqwest::Error, repeat: Repeat) -> (HttpErrorKind, Advice) {
    if error.is_builder() || error.is_redirect() || is_scheme(error) {
        return (HttpErrorKind::Request, Advice::Permanent);
    }
    if is_tls(error) {
        return (HttpErrorKind::Tls, Advice::Permanent);
    }
    if error.is_connect() {
        return (HttpErrorKind::NotSent, Advice::Usual);
    }
    (HttpErrorKind::OutcomeUnknown, repeat.advice())
}

/// Whether the client cannot speak what the URL asks for: mostly `https` in a program whose `reqwest` has
/// no feature for TLS. That comes as a failure to connect, and only in words.
fn is_scheme(error: &reqwest::Error) -> bool {
    causes(error).any(|cause| cause.to_string().contains("scheme is not http"))
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source())
}

/// Whether the other side could not be trusted or understood, in TLS. Its libraries have no error in
/// common; `rustls` comes as invalid data, others say it in words.
fn is_tls(error: &reqwest::Error) -> bool {
    causes(error).any(|error| {
        if let Some(io) = error.downcast_ref::<io::Error>()
            && io.kind() == io::ErrorKind::InvalidData
        {
            return true;
        }
        let text = error.to_string().to_lowercase();
        let mut words = text.split(|letter: char| !letter.is_alphanumeric());
        words.any(|word| ["certificate", "handshake", "tls", "ssl"].contains(&word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Advice::{After, Permanent, Usual};

    /// The whole table: with a key, without one.
    #[test]
    fn every_status_has_its_verdict() {
        let rows = [
            (408, Usual, Usual),
            (409, Usual, Permanent),
            (425, Usual, Usual),
            (429, Usual, Usual),
            (500, Permanent, Permanent),
            (502, Usual, Permanent),
            (503, Usual, Permanent),
            (504, Usual, Permanent),
        ];
        for code in 300..600 {
            let status = StatusCode::from_u16(code).unwrap();
            let row = rows.iter().find(|row| row.0 == code);
            let (_, keyed, plain) = row.copied().unwrap_or((code, Permanent, Permanent));
            let verdict = |repeat| of_status(status, repeat, false, None);
            assert_eq!(verdict(Repeat::Harmless), keyed, "{code}");
            assert_eq!(verdict(Repeat::MayActTwice), plain, "{code}");
        }
    }

    #[test]
    fn a_wait_takes_the_place_of_the_backoff_where_there_is_another_attempt() {
        let wait = Some(Duration::from_secs(7));
        let verdict =
            |code, repeat| of_status(StatusCode::from_u16(code).unwrap(), repeat, false, wait);
        let after = After(Duration::from_secs(7));
        for code in [408, 409, 429, 502, 503, 504] {
            assert_eq!(verdict(code, Repeat::Harmless), after, "{code}");
        }
        assert_eq!(verdict(503, Repeat::MayActTwice), after, "it did not act");
        assert_eq!(verdict(502, Repeat::MayActTwice), Permanent);
        assert_eq!(verdict(403, Repeat::Harmless), Permanent);
    }

    #[test]
    fn a_500_is_tried_again_only_by_word_and_only_if_that_is_harmless() {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        let verdict = |repeat, by_word| of_status(status, repeat, by_word, None);
        assert_eq!(verdict(Repeat::Harmless, true), Usual);
        assert_eq!(verdict(Repeat::Harmless, false), Permanent);
        assert_eq!(verdict(Repeat::MayActTwice, true), Permanent);
    }

    #[test]
    fn what_may_be_repeated() {
        for method in [
            Method::GET,
            Method::HEAD,
            Method::PUT,
            Method::DELETE,
            Method::OPTIONS,
        ] {
            assert_eq!(
                Repeat::of(&method, false, false),
                Repeat::Harmless,
                "{method}"
            );
        }
        for method in [Method::POST, Method::PATCH] {
            assert_eq!(Repeat::of(&method, false, false), Repeat::MayActTwice);
            assert_eq!(Repeat::of(&method, true, false), Repeat::Harmless);
            assert_eq!(Repeat::of(&method, false, true), Repeat::Harmless);
        }
    }
}
