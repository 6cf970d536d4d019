//! The list: filters, one page of what they find, and a selection.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use skail_runtime::ExecutionError;
use skail_runtime::store::{Found, Header};

use super::draw::{status, status_word, time};
use super::frame::{Frame, frame};
use super::lang::{Lang, Texts};
use super::trouble::{failed, trouble};
use crate::app::App;
use crate::live::Shown;
use crate::search::{STATUSES, Wanted, escaped, word};

pub(super) async fn page(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Response {
    let lang = Lang::of(&headers);
    let bad = |message: &str| trouble(&app, lang, StatusCode::BAD_REQUEST, message);
    let wanted = match wanted {
        Ok(Query(wanted)) => wanted,
        Err(error) => return bad(&error.body_text()),
    };
    let search = match wanted.search() {
        Ok(search) => search,
        Err(message) => return bad(&message),
    };
    let looked = async {
        let seen = Shown::List(Box::new(search.clone()))
            .look(&app.skail)
            .await?;
        Ok::<_, ExecutionError>((seen, app.skail.find(search.clone()).await?))
    };
    match looked.await {
        Ok((seen, found)) => {
            let after = wanted.after.as_deref().unwrap_or_default();
            let query = wanted.query();
            let live = format!(
                "/api/v1/live?show=list&{query}&after={}&seen={seen}",
                escaped(after)
            );
            let about = Frame {
                lang,
                title: lang.texts().executions,
                place: Some("/executions"),
                live: Some(live),
                guarded: app.token.is_some(),
            };
            frame(&about, &body(&app, lang.texts(), &wanted, &found)).into_response()
        }
        Err(error) => failed(&app, lang, &error),
    }
}

fn body(app: &App, texts: &Texts, wanted: &Wanted, found: &Found) -> Markup {
    let link = |after: &str| format!("/executions?{}&after={}", wanted.query(), escaped(after));
    let empty = found.headers.is_empty() && found.damaged.is_empty();
    html! {
        h1 { (texts.executions) }
        (filters(app, texts, wanted))
        p #newer.newer hidden { a href={ "/executions?" (wanted.query()) } { (texts.newer) } }
        @if empty && found.next.is_none() { p.hint { (texts.none_found) } }
        @if empty && found.next.is_some() { p.hint { (texts.none_here) } }
        form #selection method="post" action="/confirm" {
            @if !found.headers.is_empty() {
                table.list {
                    thead { tr {
                        th scope="col" { input #all type="checkbox" aria-label=(texts.select_all); }
                        th scope="col" { (texts.execution) }
                        th scope="col" { (texts.status) }
                        th scope="col" { (texts.function) }
                        th scope="col" { (texts.started) }
                        th scope="col" { (texts.problem) }
                    } }
                    tbody #rows data-steady {
                        @for header in &found.headers { (row(texts, header)) }
                    }
                }
                div.actions {
                    button type="submit" name="action" value="resume" { (texts.resume_selected) }
                    button type="submit" name="action" value="delete" { (texts.delete_selected) }
                }
            }
        }
        @for id in &found.damaged {
            p.problem { span.id { (id) } ": " (texts.damaged) }
        }
        nav.pages aria-label=(texts.more_pages) {
            @if wanted.after.as_ref().is_some_and(|after| !after.is_empty()) {
                a href=(link("")) { (texts.first_page) }
            }
            @if let Some(next) = &found.next { a #next rel="next" href=(link(&next.to_string())) { (texts.next_page) } }
        }
    }
}

fn row(texts: &Texts, header: &Header) -> Markup {
    html! {
        tr #{ "row-" (header.id) } {
            td { input type="checkbox" name="id" value=(header.id) aria-label={ (texts.select) " " (header.id) }; }
            th scope="row" {
                a.id href={ "/execution?id=" (escaped(header.id.as_str())) } { (header.id) }
                @for (name, value) in &header.tags {
                    " " a.tag href={ "/executions?tag=" (escaped(&format!("{name}:{value}"))) } { (name) ": " (value) }
                }
            }
            td { (status(texts, word(header.status))) }
            td { (header.function) }
            td { (time(header.created_at.as_millis())) }
            td.problem { (header.problem.as_deref().unwrap_or_default()) }
        }
    }
}

fn filters(app: &App, texts: &Texts, wanted: &Wanted) -> Markup {
    let field = |name: &str, label: &str, value: &Option<String>, kind: &str| {
        let known = (name == "function").then_some("known");
        let example = name.starts_with("started").then_some("2026-12-31T23:59");
        html! {
            label { (label)
                input type=(kind) name=(name) value=[value.as_deref()] list=[known] placeholder=[example];
            }
        }
    };
    let chosen = wanted.status.as_deref().unwrap_or_default();
    html! {
        form.filters method="get" action="/executions" role="search" {
            label { (texts.status)
                select name="status" {
                    option value="" { (texts.any) }
                    @for (word, _) in STATUSES {
                        option value=(word) selected[chosen == word] { (status_word(texts, word)) }
                    }
                }
            }
            (field("function", texts.function, &wanted.function, "text"))
            datalist #known { @for name in app.skail.functions().iter() { option value=(name) {} } }
            (field("text", texts.words, &wanted.text, "search"))
            (field("prefix", texts.prefix, &wanted.prefix, "text"))
            (field("tag", texts.tag, &wanted.tag, "text"))
            (field("started_from", texts.started_from, &wanted.started_from, "text"))
            (field("started_before", texts.started_before, &wanted.started_before, "text"))
            button.first type="submit" { (texts.filter) }
            a href="/executions" { (texts.clear) }
        }
    }
}
