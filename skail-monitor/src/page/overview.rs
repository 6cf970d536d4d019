//! The first page: how many stand where, what went wrong last, and where dependencies stand.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use skail_runtime::ExecutionError;
use skail_runtime::history::Status;
use skail_runtime::store::{Header, Search};

use super::draw::{status, time};
use super::frame::{Frame, frame};
use super::lang::{Lang, Texts};
use super::trouble::failed;
use crate::api::{Counts, Overview};
use crate::app::App;
use crate::live::Shown;
use crate::search::{STATUSES, escaped};

/// How many of the last problems are shown.
const LAST: usize = 8;

pub(super) async fn page(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let lang = Lang::of(&headers);
    match body(&app, lang.texts()).await {
        Ok((seen, body)) => {
            let about = Frame {
                lang,
                title: lang.texts().overview,
                place: Some("/"),
                live: Some(format!("/api/v1/live?seen={seen}")),
                guarded: app.token.is_some(),
            };
            frame(&about, &body).into_response()
        }
        Err(error) => failed(&app, lang, &error),
    }
}

async fn body(app: &App, texts: &Texts) -> Result<(String, Markup), ExecutionError> {
    // First: what changes while the page is made is told by the stream.
    let seen = Shown::Overview.look(&app.skail).await?;
    let overview = Overview::of(&app.skail).await?;
    let mut last = Vec::new();
    for wanted in [Status::Failed, Status::Blocked] {
        let search = Search {
            status: Some(wanted),
            limit: LAST,
            ..Search::default()
        };
        last.extend(app.skail.find(search).await?.headers);
    }
    last.sort_by_key(|header| std::cmp::Reverse(header.updated_at));
    last.truncate(LAST);
    let body = html! {
        h1 { (texts.overview) }
        ul.counts {
            @for (word, _) in STATUSES {
                li #{ "count-" (word) } {
                    a href={ "/executions?status=" (word) } {
                        strong { (count(overview.executions, word)) } " " (status(texts, word))
                    }
                }
            }
        }
        section #problems { (problems(texts, &last)) }
        section #functions { (functions(texts, &overview)) }
        section #dependencies { (dependencies(texts, &overview)) }
    };
    Ok((seen, body))
}

fn count(counts: Counts, word: &str) -> u64 {
    match word {
        "running" => counts.running,
        "blocked" => counts.blocked,
        "failed" => counts.failed,
        _ => counts.completed,
    }
}

fn problems(texts: &Texts, last: &[Header]) -> Markup {
    html! {
        h2 { (texts.last_problems) }
        @if last.is_empty() { p.hint { (texts.no_problems) } }
        ul.problems {
            @for header in last {
                li #{ "problem-" (header.id) } {
                    a.id href={ "/execution?id=" (escaped(header.id.as_str())) } { (header.id) }
                    " " (status(texts, crate::search::word(header.status)))
                    " " (time(header.updated_at.as_millis()))
                    p.problem { (header.problem.as_deref().unwrap_or_default()) }
                }
            }
        }
    }
}

fn functions(texts: &Texts, overview: &Overview) -> Markup {
    html! {
        h2 { (texts.functions) }
        div.wide tabindex="0" role="region" aria-label=(texts.functions) {
            table {
                thead { tr {
                    th scope="col" { (texts.function) }
                    @for (word, _) in STATUSES { th.number scope="col" { (status(texts, word)) } }
                } }
                tbody {
                    @for function in &overview.functions {
                        tr #{ "function-" (function.name) } {
                            th scope="row" {
                                a href={ "/executions?function=" (escaped(&function.name)) } { (function.name) }
                                @if !function.known { " " span.hint { (texts.unknown_function) } }
                            }
                            @for (word, _) in STATUSES { td.number { (count(function.counts, word)) } }
                        }
                    }
                }
            }
        }
    }
}

fn dependencies(texts: &Texts, overview: &Overview) -> Markup {
    html! {
        @if !overview.dependencies.is_empty() {
            h2 { (texts.dependencies) }
            div.wide tabindex="0" role="region" aria-label=(texts.dependencies) {
                table {
                    thead { tr {
                        th scope="col" { (texts.dependency) }
                        th scope="col" { (texts.breaker) }
                        th.number scope="col" { (texts.waiting) }
                        th.number scope="col" { (texts.retries_left) }
                        th.number scope="col" { (texts.attempts_made) }
                        th.number scope="col" { (texts.of_them_retries) }
                        th.number scope="col" { (texts.of_them_failed) }
                    } }
                    tbody {
                        @for it in &overview.dependencies {
                            tr #{ "dependency-" (it.name) } {
                                th scope="row" { (it.name) }
                                td {
                                    @if let Some(circuit) = &it.circuit {
                                        span.circuit data-circuit=(circuit) { (breaker(texts, circuit)) }
                                    }
                                }
                                td.number { (it.waiting_for_breaker + it.waiting_for_budget) }
                                td.number { @if let Some(left) = it.retries_left { (left) } }
                                td.number { (it.first_attempts + it.retries) }
                                td.number { (it.retries) }
                                td.number { (it.failed) }
                            }
                        }
                    }
                }
            }
            p.hint { (texts.since_start) }
        }
    }
}

fn breaker<'a>(texts: &'a Texts, circuit: &'a str) -> &'a str {
    match circuit {
        "closed" => texts.closed,
        "open" => texts.open,
        "half-open" => texts.half_open,
        other => other,
    }
}
