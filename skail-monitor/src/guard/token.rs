//! The token: who has it is let in.
//!
//! Owns its digests and their comparison. The token itself is kept nowhere and written nowhere.

use std::fmt;
use std::hint::black_box;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::Response;
use sha2::{Digest as _, Sha256};

use crate::app::App;
use crate::error::MonitorError;
use crate::{api, page};

/// The name of the cookie.
pub(crate) const COOKIE: &str = "skail_monitor";

/// The fewest bytes of a token.
const LEAST: usize = 16;

/// What is known of the token.
pub(crate) struct Token {
    /// Of the token itself.
    bearer: [u8; 32],
    /// What browsers keep: who reads it in a browser's files does not have the token.
    cookie: String,
}

impl Token {
    /// # Errors
    /// [`MonitorError::WeakToken`] and [`MonitorError::UnusableToken`].
    pub(crate) fn new(token: &str) -> Result<Self, MonitorError> {
        if token.len() < LEAST {
            return Err(MonitorError::WeakToken {
                length: token.len(),
                least: LEAST,
            });
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(MonitorError::UnusableToken);
        }
        let cookie = digest("cookie", token);
        Ok(Self {
            bearer: digest("bearer", token),
            cookie: cookie.iter().map(|byte| format!("{byte:02x}")).collect(),
        })
    }

    /// Whether this is the token. Takes as long for any text of the same length: it is a digest that is
    /// compared, all of it.
    pub(crate) fn is(&self, text: &str) -> bool {
        same(&self.bearer, &digest("bearer", text))
    }

    /// The value of the cookie that lets in.
    pub(crate) fn cookie(&self) -> &str {
        &self.cookie
    }

    fn lets_in(&self, headers: &HeaderMap) -> bool {
        let bearer = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .is_some_and(|(_, token)| self.is(token.trim()));
        let wanted = digest("kept", &self.cookie);
        let cookie = headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(name, _)| *name == COOKIE)
            .any(|(_, value)| same(&wanted, &digest("kept", value)));
        bearer || cookie
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(hidden)")
    }
}

fn digest(what: &str, text: &str) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(b"skail-monitor ");
    hasher.update(what.as_bytes());
    hasher.update([0]);
    hasher.update(text.as_bytes());
    hasher.finalize().into()
}

/// Looks at every byte, whether or not an earlier one differs.
fn same(one: &[u8; 32], other: &[u8; 32]) -> bool {
    let difference = one
        .iter()
        .zip(other)
        .fold(0, |all, (one, other)| black_box(all | (one ^ other)));
    black_box(difference) == 0
}

/// Lets in who has the token, if there is one; anybody else gets no further than the form that asks for it.
pub(crate) async fn token(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let Some(token) = &app.token else {
        return next.run(request).await;
    };
    let path = request.uri().path();
    if path == page::LOGIN || token.lets_in(request.headers()) {
        return next.run(request).await;
    }
    if path.starts_with(api::PREFIX) {
        api::token_needed()
    } else {
        page::token_needed(request.headers())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_and_its_cookie_let_in() {
        let right = "0123456789abcdef-XYZ";
        let token = Token::new(right).unwrap();
        let lets_in = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            token.lets_in(&headers)
        };
        assert!(lets_in("authorization", &format!("Bearer {right}")));
        assert!(lets_in("authorization", &format!("bearer  {right}")));
        let cookie = token.cookie();
        assert!(lets_in("cookie", &format!("a=b; {COOKIE}={cookie}")));
        for wrong in ["", "Bearer", "Bearer ", "Bearer x", right, "Basic x"] {
            assert!(!lets_in("authorization", wrong), "{wrong}");
        }
        assert!(!lets_in("authorization", &format!("Bearer {cookie}")));
        assert!(!lets_in("authorization", &format!("Bearer {right}x")));
        assert!(!lets_in("authorization", &format!("Basic {right}")));
        assert!(!lets_in("cookie", &format!("{COOKIE}={right}")));
        assert!(!lets_in("cookie", &format!("{COOKIE}=")));
        assert!(!lets_in("cookie", &format!("x{COOKIE}={cookie}")));
    }

    #[test]
    fn a_token_that_can_be_guessed_or_sent_by_nobody_is_refused() {
        assert!(matches!(
            Token::new("0123456789abcde"),
            Err(MonitorError::WeakToken {
                length: 15,
                least: 16
            })
        ));
        for token in [
            "0123456789abcdef ",
            "0123456789abcdef\n",
            "ção0123456789abcdef",
        ] {
            let made = Token::new(token);
            assert!(matches!(made, Err(MonitorError::UnusableToken)), "{token}");
        }
        let shown = format!("{:?}", Token::new("0123456789abcdef").unwrap());
        assert!(!shown.contains("0123"));
    }
}
