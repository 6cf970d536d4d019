//! Acts from the page: first the question whether it is meant, with who and why; then the act.

use std::sync::Arc;

use axum::extract::rejection::FormRejection;
use axum::extract::{Extension, Form, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};

use super::frame::{Frame, frame};
use super::lang::{Lang, Texts};
use super::trouble::trouble;
use crate::act::{Act, Because, Done, act as perform};
use crate::app::App;
use crate::search::escaped;
use crate::server::Peer;

type Sent = Result<Form<Vec<(String, String)>>, FormRejection>;

/// What a form asks for.
struct Order {
    act: Act,
    ids: Vec<String>,
    by: String,
    reason: String,
}

impl Order {
    /// # Errors
    /// Why it is none.
    fn of(sent: Sent) -> Result<Self, (StatusCode, String)> {
        let Form(pairs) = sent.map_err(|error| (error.status(), error.body_text()))?;
        let (mut action, mut accept) = (String::new(), false);
        let (mut ids, mut by, mut reason) = (Vec::new(), String::new(), String::new());
        for (name, value) in pairs {
            match name.as_str() {
                "id" => ids.push(value),
                "action" => action = value,
                "by" => by = value,
                "reason" => reason = value,
                "accept_changed_arguments" => accept = true,
                _ => {}
            }
        }
        let act = match action.as_str() {
            "resume" => Act::Resume {
                accept_changed_arguments: accept,
            },
            "delete" => Act::Delete,
            _ => {
                let message = "the form names no action that there is".to_owned();
                return Err((StatusCode::BAD_REQUEST, message));
            }
        };
        Ok(Self {
            act,
            ids,
            by,
            reason,
        })
    }
}

fn title(texts: &Texts, act: Act) -> &'static str {
    match act {
        Act::Resume { .. } => texts.resume,
        Act::Delete => texts.delete,
    }
}

fn shown(app: &App, lang: Lang, title: &str, body: &Markup) -> Response {
    let about = Frame {
        lang,
        title,
        place: Some(""),
        live: None,
        guarded: app.token.is_some(),
    };
    frame(&about, body).into_response()
}

/// Asks. Nothing is done yet.
pub(super) async fn confirm(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    sent: Sent,
) -> Response {
    let lang = Lang::of(&headers);
    let texts = lang.texts();
    let order = match Order::of(sent) {
        Ok(order) => order,
        Err((status, message)) => return trouble(&app, lang, status, &message),
    };
    if order.ids.is_empty() {
        return trouble(&app, lang, StatusCode::BAD_REQUEST, texts.nothing_selected);
    }
    let title = title(texts, order.act);
    let what = match order.act {
        Act::Resume { .. } => texts.resume_means,
        Act::Delete => texts.delete_means,
    };
    let back = match &*order.ids {
        [id] => format!("/execution?id={}", escaped(id)),
        _ => "/executions".to_owned(),
    };
    let body = html! {
        h1 { (title) " · " (order.ids.len()) }
        p { (what) }
        form.confirm method="post" action="/act" {
            ul.ids {
                @for id in &order.ids {
                    li.id { (id) input type="hidden" name="id" value=(id); }
                }
            }
            input type="hidden" name="action" value=(order.act.word());
            @if matches!(order.act, Act::Resume { .. }) {
                label.choice {
                    input type="checkbox" name="accept_changed_arguments" value="1";
                    (texts.accept)
                }
            }
            label { (texts.by) input type="text" name="by" autocomplete="name" maxlength="200"; }
            label { (texts.reason) input type="text" name="reason" maxlength="500"; }
            div.actions {
                button.first #yes type="submit" autofocus { (title) }
                a href=(back) { (texts.back) }
            }
        }
    };
    shown(&app, lang, title, &body)
}

/// Does it, and says what came of it.
pub(super) async fn act(
    State(app): State<Arc<App>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    sent: Sent,
) -> Response {
    let lang = Lang::of(&headers);
    let texts = lang.texts();
    let order = match Order::of(sent) {
        Ok(order) => order,
        Err((status, message)) => return trouble(&app, lang, status, &message),
    };
    let because = Because {
        by: order.by,
        reason: order.reason,
        peer,
    };
    let done = match perform(&app.skail, order.act, order.ids, &because).await {
        Ok(done) => done,
        Err(message) => return trouble(&app, lang, StatusCode::BAD_REQUEST, &message),
    };
    if let (
        [
            Done {
                id,
                outcome: Ok(()),
            },
        ],
        Act::Resume { .. },
    ) = (&*done, order.act)
    {
        return Redirect::to(&format!("/execution?id={}", escaped(id))).into_response();
    }
    let body = html! {
        h1 { (title(texts, order.act)) }
        ul.outcomes {
            @for Done { id, outcome } in &done {
                li {
                    a.id href={ "/execution?id=" (escaped(id)) } { (id) } ": "
                    @match outcome {
                        Ok(()) => { (texts.done) }
                        Err(error) => { span.problem { (error) } }
                    }
                }
            }
        }
        p { a href="/executions" { (texts.executions) } }
    };
    shown(&app, lang, title(texts, order.act), &body)
}
