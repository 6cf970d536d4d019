//! The page: what the API knows, as HTML.
//!
//! Owns its addresses. Every text goes through `maud`, which escapes it; nothing is written around it.

mod act;
mod assets;
mod draw;
mod execution;
mod frame;
mod lang;
mod list;
mod login;
mod overview;
mod timeline;
mod trouble;

use std::sync::Arc;

use axum::Router;
use axum::http::HeaderMap;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};

use crate::app::App;
use lang::Lang;

/// Where the token is asked for.
pub(crate) const LOGIN: &str = "/login";

pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(overview::page))
        .route("/executions", get(list::page))
        .route("/execution", get(execution::page))
        .route("/confirm", post(act::confirm))
        .route("/act", post(act::act))
        .merge(login::router())
}

/// What needs no token: it is the same for everybody.
pub(crate) fn assets() -> Router {
    assets::router()
}

/// The answer to a request without the token: the form that asks for it.
pub(crate) fn token_needed(headers: &HeaderMap) -> Response {
    login::form(Lang::of(headers), false).into_response()
}
