//! The page that says why there is no other.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::html;
use skail_runtime::ExecutionError;

use super::frame::{Frame, frame};
use super::lang::Lang;
use crate::app::App;

/// What is shown instead of a page.
pub(super) fn trouble(app: &App, lang: Lang, status: StatusCode, message: &str) -> Response {
    let texts = lang.texts();
    let body = html! {
        h1 { (texts.trouble) }
        p.problem role="alert" { (message) }
        p { a href="/executions" { (texts.executions) } }
    };
    let mut about = Frame::bare(lang, texts.trouble);
    about.place = Some("");
    about.guarded = app.token.is_some();
    (status, frame(&about, &body)).into_response()
}

/// As an error of the engine has it.
pub(super) fn failed(app: &App, lang: Lang, error: &ExecutionError) -> Response {
    let status = match error {
        ExecutionError::Unknown { .. } => StatusCode::NOT_FOUND,
        ExecutionError::Id(_) => StatusCode::BAD_REQUEST,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    trouble(app, lang, status, &error.to_string())
}
