//! Whose page an action comes from.
//!
//! Browsers name the page's origin with every request that could change something. A request without one is
//! no browser's, and needs no such check: it carries no cookie that somebody else's page could use.

use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

const REFUSED: &str = "this action comes from a page that is not the Monitor's\n";

pub(crate) async fn origin(request: Request, next: Next) -> Response {
    let looks = matches!(*request.method(), Method::GET | Method::HEAD);
    if looks || is_own(request.headers()) {
        next.run(request).await
    } else {
        tracing::warn!(
            origin = ?request.headers().get(header::ORIGIN),
            path = request.uri().path(),
            "an action was refused: it comes from another page"
        );
        (StatusCode::FORBIDDEN, REFUSED).into_response()
    }
}

/// Whether a request that may change something comes from the Monitor's own page, or from no page at all.
fn is_own(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let site = text("sec-fetch-site").is_none_or(|site| matches!(site, "same-origin" | "none"));
    let own = match text("origin") {
        Some(origin) => {
            let host = text("host").unwrap_or_default();
            let its = origin
                .strip_prefix("http://")
                .or_else(|| origin.strip_prefix("https://"));
            its.is_some_and(|its| !its.is_empty() && its.eq_ignore_ascii_case(host))
        }
        // With a cookie it is a browser's after all, and browsers send one.
        None => !headers.contains_key(header::COOKIE),
    };
    site && own
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(pairs: &[(&'static str, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, value.parse().unwrap());
        }
        is_own(&headers)
    }

    #[test]
    fn only_the_monitors_own_page_may_act() {
        let host = ("host", "127.0.0.1:7878");
        assert!(own(&[host]), "a program");
        assert!(own(&[host, ("origin", "http://127.0.0.1:7878")]));
        assert!(
            own(&[host, ("origin", "https://127.0.0.1:7878")]),
            "a proxy"
        );
        for origin in [
            "null",
            "http://evil.example",
            "http://127.0.0.1:7879",
            "http://127.0.0.1",
            "http://127.0.0.1:7878.evil.example",
            "http://",
            "127.0.0.1:7878",
        ] {
            assert!(!own(&[host, ("origin", origin)]), "{origin}");
        }
        let right = ("origin", "http://127.0.0.1:7878");
        assert!(!own(&[host, right, ("sec-fetch-site", "cross-site")]));
        assert!(!own(&[host, right, ("sec-fetch-site", "same-site")]));
        assert!(!own(&[host, ("cookie", "skail_monitor=1")]));
    }
}
