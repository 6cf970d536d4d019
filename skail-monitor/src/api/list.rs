//! Executions that one looks for.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use skail_runtime::store::Header;
use utoipa::ToSchema;

use super::problem::{Asked, Problem, asked};
use crate::app::App;
use crate::search::{Wanted, word};

/// An execution without its history.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExecutionHeader {
    /// Its id.
    pub(crate) id: String,
    /// The recorded name of its function.
    pub(crate) function: String,
    /// `running`, `blocked`, `failed` or `completed`.
    pub(crate) status: &'static str,
    /// When it was started.
    pub(crate) created_at: i64,
    /// When its header last changed.
    pub(crate) updated_at: i64,
    /// From when on it can be worked on; missing at rest.
    pub(crate) due: Option<i64>,
    /// What makes it findable.
    pub(crate) tags: BTreeMap<String, String>,
    /// The last error or block message, in short.
    pub(crate) problem: Option<String>,
}

impl From<Header> for ExecutionHeader {
    fn from(header: Header) -> Self {
        Self {
            id: header.id.to_string(),
            function: header.function,
            status: word(header.status),
            created_at: header.created_at.as_millis(),
            updated_at: header.updated_at.as_millis(),
            due: header.due.map(|due| due.as_millis()),
            tags: header.tags,
            problem: header.problem,
        }
    }
}

/// One page of what was found.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Executions {
    /// Newest start first; by id in a search by prefix. It may be shorter than the limit, even empty, with
    /// more to come: only `next` tells the end.
    pub(crate) executions: Vec<ExecutionHeader>,
    /// Ids of executions that may be meant and cannot be read.
    pub(crate) damaged: Vec<String>,
    /// The `after` of the next page; missing at the end.
    pub(crate) next: Option<String>,
}

/// Executions by status, function, id, time, tag and words, newest first.
#[utoipa::path(
    get,
    path = "/api/v1/executions",
    params(Wanted),
    responses(
        (status = 200, body = Executions),
        (status = 400, body = Problem),
        (status = 503, body = Problem)
    )
)]
pub(super) async fn executions(
    State(app): State<Arc<App>>,
    wanted: Asked<Wanted>,
) -> Result<Json<Executions>, Problem> {
    let search = asked(wanted)?.search().map_err(Problem::bad)?;
    let found = app.skail.find(search).await?;
    Ok(Json(Executions {
        executions: found.headers.into_iter().map(Into::into).collect(),
        damaged: found.damaged.iter().map(ToString::to_string).collect(),
        next: found.next.map(|next| next.to_string()),
    }))
}
