//! One execution: its header, its history.
//!
//! An id stands in the query, not in the path: it may be `..`, or hold a slash, and clients and proxies
//! rewrite such paths.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use skail_runtime::history::Event;
use skail_runtime::{Execution, ExecutionError, Sequence};
use utoipa::{IntoParams, ToSchema};

use super::list::ExecutionHeader;
use super::problem::{Asked, Problem, asked};
use crate::app::App;

/// The most events of one answer.
pub(crate) const MOST_EVENTS: usize = 500;

/// After so many bytes of JSON an answer takes no further events.
const ENOUGH_BYTES: usize = 4 * 1024 * 1024;

/// How many events are read at a time.
const AT_A_TIME: usize = 32;

/// Which execution.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct One {
    /// The id of the execution.
    pub(crate) id: String,
}

/// Which part of which history.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Part {
    /// The id of the execution.
    pub(crate) id: String,
    /// The place of the first event wanted, from 0.
    pub(crate) from: Option<u64>,
    /// How many events at most: 1 to 500, 100 unless given. Large ones may make it fewer.
    pub(crate) limit: Option<usize>,
}

/// An event with its place.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlacedEvent {
    /// Its place in the history, from 0.
    pub(crate) sequence: u64,
    /// What happened, as in an exported history.
    #[schema(value_type = Object)]
    pub(crate) event: serde_json::Value,
}

/// A part of a history.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct History {
    /// Oldest first.
    pub(crate) events: Vec<PlacedEvent>,
    /// The `from` of the next part; missing if there is none for now.
    pub(crate) next: Option<u64>,
}

/// Where one execution stands.
#[utoipa::path(
    get,
    path = "/api/v1/execution",
    params(One),
    responses(
        (status = 200, body = ExecutionHeader),
        (status = 404, body = Problem),
        (status = 503, body = Problem)
    )
)]
pub(super) async fn execution(
    State(app): State<Arc<App>>,
    one: Asked<One>,
) -> Result<Json<ExecutionHeader>, Problem> {
    let one = asked(one)?;
    let execution = app.skail.execution::<IgnoredAny>(&one.id).await?;
    Ok(Json(execution.header().await?.into()))
}

/// A part of the history of one execution.
#[utoipa::path(
    get,
    path = "/api/v1/history",
    params(Part),
    responses(
        (status = 200, body = History),
        (status = 400, body = Problem),
        (status = 404, body = Problem),
        (status = 503, body = Problem)
    )
)]
pub(super) async fn history(
    State(app): State<Arc<App>>,
    part: Asked<Part>,
) -> Result<Json<History>, Problem> {
    let part = asked(part)?;
    let limit = part.limit.unwrap_or(100);
    if !(1..=MOST_EVENTS).contains(&limit) {
        return Err(Problem::bad(format!(
            "`limit` is a number from 1 to {MOST_EVENTS}"
        )));
    }
    let execution = app.skail.execution::<IgnoredAny>(&part.id).await?;
    let from = part.from.unwrap_or(0);
    let mut events = Vec::new();
    let mut bytes = 0;
    let next = read(&execution, from, limit, |sequence, event| {
        let event = serde_json::to_value(event).unwrap_or_default();
        bytes += event.to_string().len();
        events.push(PlacedEvent { sequence, event });
        bytes < ENOUGH_BYTES
    });
    let next = next.await?;
    Ok(Json(History { events, next }))
}

/// Gives events to `take` until it has enough. Says where the next part begins, if there is one: never more
/// than a few large events are in memory beside what `take` keeps.
pub(crate) async fn read<T>(
    execution: &Execution<T>,
    from: u64,
    limit: usize,
    mut take: impl FnMut(u64, Event) -> bool,
) -> Result<Option<u64>, ExecutionError> {
    let mut next = from;
    let end = from.saturating_add(limit as u64);
    loop {
        // One more than wanted says whether there are more.
        let wanted = AT_A_TIME.min((end - next) as usize + 1);
        let page = execution.events(Sequence(next), wanted).await?;
        let last = page.len() < wanted;
        for event in page {
            if next == end {
                return Ok(Some(next));
            }
            let more = take(next, event);
            next += 1;
            if !more {
                let rest = execution.events(Sequence(next), 1).await?;
                return Ok((!rest.is_empty()).then_some(next));
            }
        }
        if last {
            return Ok(None);
        }
    }
}

/// The whole history of one execution, to be kept or replayed: a file.
#[utoipa::path(
    get,
    path = "/api/v1/export",
    params(One),
    responses(
        (status = 200, content_type = "application/json", body = Object),
        (status = 404, body = Problem),
        (status = 503, body = Problem)
    )
)]
pub(super) async fn export(
    State(app): State<Arc<App>>,
    one: Asked<One>,
) -> Result<impl IntoResponse, Problem> {
    let one = asked(one)?;
    let execution = app.skail.execution::<IgnoredAny>(&one.id).await?;
    let history = execution.export().await?;
    let name = format!("attachment; filename=\"{}.json\"", file_name(&one.id));
    let headers = [
        (header::CONTENT_TYPE, "application/json".to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ];
    Ok((headers, history.to_json()))
}

/// The id, with nothing in it that a file system or a header could take for something else.
fn file_name(id: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    id.chars()
        .map(|letter| if plain(letter) { letter } else { '_' })
        .collect()
}
