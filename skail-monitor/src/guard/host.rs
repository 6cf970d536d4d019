//! Under which names the Monitor answers.
//!
//! A page of somebody else can make its own name lead to this machine (DNS rebinding), and would then be of
//! the same origin. It can do that with no IP address and not with `localhost`.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::app::App;

const REFUSED: &str = "the Monitor does not answer under this name: use its IP address or localhost, or \
    name it with `Monitor::host`\n";

pub(crate) async fn host(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let mut named = request.headers().get_all(header::HOST).iter();
    let one = named.next().and_then(|host| host.to_str().ok());
    let alone = named.next().is_none();
    let target = request.uri().authority();
    let known = |host: &str| is_known(host, &app.hosts);
    let lets_in = alone && one.is_some_and(known) && target.is_none_or(|it| known(it.as_str()));
    if lets_in {
        next.run(request).await
    } else {
        tracing::warn!(
            host = ?request.headers().get(header::HOST),
            "a request was refused: the Monitor does not answer under this name"
        );
        (StatusCode::MISDIRECTED_REQUEST, REFUSED).into_response()
    }
}

fn is_known(host: &str, hosts: &[String]) -> bool {
    let host = host.to_ascii_lowercase();
    let name = without_port(&host);
    let ip = name.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    ip.unwrap_or(name).parse::<IpAddr>().is_ok()
        || name == "localhost"
        || hosts.iter().any(|known| known == name)
}

/// The host without `:port`. The port does not matter: whoever forwards one may choose another.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit()) => {
            // In `[::1]` the last colon is no port's.
            name
        }
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_known_names_only() {
        let hosts = ["monitor.example".to_owned()];
        for host in [
            "127.0.0.1",
            "127.0.0.1:7878",
            "[::1]",
            "[::1]:7878",
            "localhost:1",
            "LOCALHOST",
            "10.0.0.7:80",
            "Monitor.Example:443",
        ] {
            assert!(is_known(host, &hosts), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:7878",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "monitor.example.evil",
            "user@localhost",
            "localhost@evil.example:7878",
            "localhost:",
            "localhost:x",
            "2130706433",
        ] {
            assert!(!is_known(host, &hosts), "{host}");
        }
    }
}
