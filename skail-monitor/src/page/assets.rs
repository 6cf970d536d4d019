//! The files of the page: in the binary, the same for everybody.

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;

pub(super) const STYLE: &str = "/assets/monitor.css";
pub(super) const SCRIPT: &str = "/assets/monitor.js";
pub(super) const ICON: &str = "/assets/icon.svg";

pub(super) fn router() -> Router {
    let style = || async { file("text/css; charset=utf-8", include_str!("monitor.css")) };
    let script = || async { file("text/javascript; charset=utf-8", include_str!("monitor.js")) };
    let icon = || async { file("image/svg+xml", include_str!("icon.svg")) };
    Router::new()
        .route(STYLE, get(style))
        .route(SCRIPT, get(script))
        .route(ICON, get(icon))
}

/// Asked for again each time: another release has other files under the same names.
fn file(kind: &'static str, text: &'static str) -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, text)
}
