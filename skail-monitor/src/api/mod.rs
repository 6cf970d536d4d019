//! The JSON API, version 1.
//!
//! Owns its addresses and the forms of its answers. Fields may be added; none changes its meaning or goes
//! within a version.

// What `utoipa` writes names types by longer paths than it needs.
#![allow(unused_qualifications)]

mod actions;
mod execution;
mod list;
mod live;
mod overview;
mod problem;

use std::sync::Arc;

use axum::response::Response;
use axum::routing::get;
use axum::{Json, Router};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

pub(crate) use execution::{MOST_EVENTS, read};
pub(crate) use overview::{Counts, Overview};

/// What all its addresses begin with.
pub(crate) const PREFIX: &str = "/api/";

/// What the description says of the whole.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Skail Monitor",
        description = "Executions of one Skail engine: see, understand, resume. Times are milliseconds since \
            1970. With a token, each request has `Authorization: Bearer …`. A POST has `Content-Type: \
            application/json`."
    ),
    modifiers(&Bearer)
)]
struct Description;

struct Bearer;

impl utoipa::Modify for Bearer {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
        let components = document.components.get_or_insert_default();
        let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme("token", bearer);
    }
}

/// Each address with what is done there; its description is made of the same list.
pub(crate) fn router() -> Router<Arc<App>> {
    let (router, description) = OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(overview::overview))
        .routes(routes!(list::executions))
        .routes(routes!(execution::execution))
        .routes(routes!(execution::history))
        .routes(routes!(execution::export))
        .routes(routes!(actions::resume))
        .routes(routes!(actions::delete))
        .routes(routes!(live::live))
        .split_for_parts();
    let description = Json(description);
    router
        .route(
            "/api/v1/openapi.json",
            get(|| async move { description.clone() }),
        )
        .route("/api/{*rest}", axum::routing::any(problem::nothing_here))
}

/// The answer to a request without the token.
pub(crate) fn token_needed() -> Response {
    problem::token_needed()
}
