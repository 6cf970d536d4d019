//! The form that asks for the token.

use std::sync::Arc;

use axum::Form;
use axum::Router;
use axum::extract::rejection::FormRejection;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use maud::html;
use serde::Deserialize;

use super::LOGIN;
use super::frame::{Frame, frame};
use super::lang::Lang;
use crate::app::App;
use crate::guard::COOKIE;
use crate::server::Peer;

/// How long a browser keeps the cookie, in seconds: a working day.
const KEPT: u32 = 12 * 3600;

pub(super) fn router() -> Router<Arc<App>> {
    Router::new()
        .route(LOGIN, get(asked).post(given))
        .route("/logout", post(left))
}

#[derive(Deserialize)]
struct Login {
    token: String,
}

async fn asked(headers: HeaderMap) -> Response {
    form(Lang::of(&headers), false).into_response()
}

async fn given(
    State(app): State<Arc<App>>,
    Extension(Peer(peer)): Extension<Peer>,
    headers: HeaderMap,
    login: Result<Form<Login>, FormRejection>,
) -> Response {
    let Some(token) = &app.token else {
        return Redirect::to("/").into_response();
    };
    match login {
        Ok(Form(login)) if token.is(login.token.trim()) => {
            tracing::info!(target: "skail_monitor::audit", action = "login", %peer, "done");
            with_cookie(token.cookie(), KEPT)
        }
        _ => {
            tracing::warn!(target: "skail_monitor::audit", action = "login", %peer, "refused");
            form(Lang::of(&headers), true).into_response()
        }
    }
}

async fn left() -> Response {
    with_cookie("", 0)
}

fn with_cookie(value: &str, kept: u32) -> Response {
    let cookie = format!("{COOKIE}={value}; Path=/; Max-Age={kept}; HttpOnly; SameSite=Strict");
    ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response()
}

/// The form, with a word about the token that was wrong.
pub(super) fn form(lang: Lang, wrong: bool) -> impl IntoResponse {
    let texts = lang.texts();
    let body = html! {
        form.login method="post" action=(LOGIN) {
            h1 { (texts.token) }
            p { (texts.token_why) }
            @if wrong { p.problem role="alert" { (texts.token_wrong) } }
            label for="token" { (texts.token) }
            input #token type="password" name="token" autocomplete="current-password" required autofocus;
            button.first type="submit" { (texts.log_in) }
        }
    };
    let page = frame(&Frame::bare(lang, texts.token), &body);
    (StatusCode::UNAUTHORIZED, page)
}
