//! One execution: where it stands, what went wrong, what happened, and what can be done.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use serde::Deserialize;
use serde::de::IgnoredAny;
use skail_runtime::ExecutionError;
use skail_runtime::history::Status;
use skail_runtime::store::Header;

use super::draw::{bars, failure, status, text_of, time, value};
use super::frame::{Frame, frame};
use super::lang::{Lang, Texts};
use super::timeline::{Bar, Note, Row, State as Stand, Timeline};
use super::trouble::{failed, trouble};
use crate::api::{MOST_EVENTS, read};
use crate::app::App;
use crate::live::Shown;
use crate::search::{escaped, word};
use crate::time::length;

/// Which execution, and which part of its history.
#[derive(Deserialize)]
pub(super) struct Asked {
    id: String,
    from: Option<u64>,
}

pub(super) async fn page(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Response {
    let lang = Lang::of(&headers);
    let Query(asked) = match asked {
        Ok(asked) => asked,
        Err(error) => return trouble(&app, lang, StatusCode::BAD_REQUEST, &error.body_text()),
    };
    match body(&app, lang.texts(), &asked).await {
        Ok((seen, body)) => {
            let live = format!("/api/v1/live?id={}&seen={seen}", escaped(&asked.id));
            let about = Frame {
                lang,
                title: &asked.id,
                place: Some("/execution"),
                live: Some(live),
                guarded: app.token.is_some(),
            };
            frame(&about, &body).into_response()
        }
        Err(error) => failed(&app, lang, &error),
    }
}

async fn body(app: &App, texts: &Texts, asked: &Asked) -> Result<(String, Markup), ExecutionError> {
    let execution = app.skail.execution::<IgnoredAny>(&asked.id).await?;
    // First: what changes while the page is made is told by the stream.
    let id = asked.id.clone();
    let seen = Shown::Execution { id, events: 0 }.look(&app.skail).await?;
    let header = execution.header().await?;
    let from = asked.from.unwrap_or(0);
    let mut events = Vec::new();
    let next = read(&execution, from, MOST_EVENTS, |sequence, event| {
        events.push((sequence, event));
        true
    });
    let next = next.await?;
    let running = header.status == Status::Running && next.is_none();
    let now = running.then(|| app.skail.now().as_millis());
    let line = Timeline::new(&header.function, events, now);
    let known = app.skail.functions().contains(&header.function);
    let body = html! {
        h1.id { (header.id) }
        (facts(texts, &header, known))
        (trouble_of(texts, &header, &line))
        (actions(texts, &header))
        section #timeline {
            h2 { (texts.timeline) }
            p.scale { (time(line.from)) span { (length(line.to.saturating_sub(line.from))) } (time(line.to)) }
            ol.rows {
                (row(texts, &line.function, &line))
                @for step in &line.steps { (row(texts, step, &line)) }
            }
            p.hint { (texts.bars_begin) }
            @if !line.notes.is_empty() { (notes(texts, &line.notes)) }
        }
        nav.pages aria-label=(texts.more_pages) {
            @let link = format!("/execution?id={}", escaped(&asked.id));
            @if from > 0 { a href=(link) { (texts.from_the_start) } }
            @if let Some(next) = next { a #next rel="next" href={ (link) "&from=" (next) } { (texts.later_events) } }
        }
    };
    Ok((seen, body))
}

fn facts(texts: &Texts, header: &Header, known: bool) -> Markup {
    let (created, updated) = (header.created_at.as_millis(), header.updated_at.as_millis());
    html! {
        dl.facts #facts {
            div { dt { (texts.status) } dd #status { (status(texts, word(header.status))) } }
            div { dt { (texts.function) } dd {
                a href={ "/executions?function=" (escaped(&header.function)) } { (header.function) }
                @if !known { " " span.hint { (texts.unknown_function) } }
            } }
            div { dt { (texts.started) } dd { (time(created)) } }
            div { dt { (texts.updated) } dd { (time(updated)) } }
            @if header.status == Status::Running && let Some(due) = header.due {
                div { dt { (texts.due) } dd { (time(due.as_millis())) } }
            }
            @for (name, value) in &header.tags {
                div { dt { (name) } dd {
                    a.tag href={ "/executions?tag=" (escaped(&format!("{name}:{value}"))) } { (value) }
                } }
            }
        }
    }
}

/// Why it is at rest, or what went wrong last.
fn trouble_of(texts: &Texts, header: &Header, line: &Timeline) -> Markup {
    let last = line.function.failures.last();
    html! {
        section #trouble {
            @if header.status != Status::Completed && let Some(problem) = &header.problem {
                h2 { (texts.what_went_wrong) }
                @match last {
                    Some(last) if header.status == Status::Failed => { (failure(texts, &last.failure)) }
                    _ => { p.problem { (problem) } }
                }
            }
            @if let Some(result) = &line.function.result {
                h2 { (texts.result) }
                (value(texts, result))
            }
        }
    }
}

fn actions(texts: &Texts, header: &Header) -> Markup {
    let resumable = matches!(header.status, Status::Failed | Status::Blocked);
    let export = format!("/api/v1/export?id={}", escaped(header.id.as_str()));
    html! {
        form.actions #actions method="post" action="/confirm" {
            input type="hidden" name="id" value=(header.id);
            @if resumable {
                button.first type="submit" name="action" value="resume" { (texts.resume) }
            }
            @if header.is_deletable() {
                button type="submit" name="action" value="delete" { (texts.delete) }
            }
            a href=(export) download { (texts.download) }
        }
    }
}

fn row(texts: &Texts, row: &Row, line: &Timeline) -> Markup {
    let id = row
        .position
        .map_or("function".to_owned(), |it| format!("step-{it}"));
    let (state, shown) = match row.state {
        Stand::Open => ("open", texts.going_on),
        Stand::Done => ("done", texts.done),
        Stand::Failed => ("failed", texts.failed),
        Stand::Blocked => ("blocked", texts.blocked),
    };
    let begins = row.bars.first().map_or(line.from, |bar| bar.from);
    let ends = row
        .bars
        .iter()
        .map(|bar: &Bar| bar.to)
        .max()
        .unwrap_or(begins);
    html! {
        li #(id) data-state=(state) {
            details #{ (id) "-details" } {
                summary {
                    span.what {
                        @if let Some(position) = row.position { span.position { (position) } }
                        span.name { (row.name) }
                        span.hint {
                            (row.kind) " · " (shown)
                            @if row.attempts > 1 { " · " (row.attempts) " " (texts.attempts) }
                            " · " (length(ends.saturating_sub(begins)))
                        }
                    }
                    (bars(&row.bars, line.from, line.to))
                }
                @if let Some(arguments) = &row.arguments { h3 { (texts.arguments) } (value(texts, arguments)) }
                @if let Some(result) = &row.result { h3 { (texts.result) } (value(texts, result)) }
                @for failed in &row.failures {
                    h3 {
                        @if let Some(attempt) = failed.attempt { (texts.attempt) " " (attempt) " · " }
                        (time(failed.at))
                    }
                    (failure(texts, &failed.failure))
                    @if let Some(due) = failed.retry_at {
                        p.hint { (texts.next_attempt) " " (length(due.saturating_sub(failed.at))) " (" (time(due)) ")" }
                    }
                }
            }
        }
    }
}

/// Events without a bar, in the words of the history.
fn notes(texts: &Texts, notes: &[Note]) -> Markup {
    html! {
        h2 { (texts.notes) }
        ol.notes {
            @for note in notes {
                li #{ "note-" (note.sequence) } {
                    (time(note.at))
                    @let text = serde_json::to_value(&note.event).ok();
                    @let text = text.and_then(|text| serde_json::to_string_pretty(&text).ok());
                    (text_of(texts, &text.unwrap_or_default()))
                }
            }
        }
    }
}
