//! Acts on one execution or many.

use std::sync::Arc;

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::problem::Problem;
use crate::act::{Act, Because, act};
use crate::app::App;
use crate::server::Peer;

/// Which executions, who wants it, and why.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    /// 1 to 1,000 ids.
    ids: Vec<String>,
    /// Who wants it, for the audit line.
    #[serde(default)]
    by: String,
    /// Why, for the audit line.
    #[serde(default)]
    reason: String,
}

/// As for any act, and what a resume may accept.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResumeOrder {
    /// 1 to 1,000 ids.
    ids: Vec<String>,
    /// Who wants it, for the audit line.
    #[serde(default)]
    by: String,
    /// Why, for the audit line.
    #[serde(default)]
    reason: String,
    /// That the recorded result of a finished step holds for the arguments that the code passes now.
    #[serde(default)]
    accept_changed_arguments: bool,
}

/// What came of an act for one execution.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Outcome {
    /// Its id.
    id: String,
    /// Whether it was done.
    done: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<Problem>,
}

/// What came of an act, in the order of the request.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Outcomes {
    /// For each execution.
    outcomes: Vec<Outcome>,
}

async fn perform(
    app: &App,
    what: Act,
    order: Order,
    peer: Peer,
) -> Result<Json<Outcomes>, Problem> {
    let because = Because {
        by: order.by,
        reason: order.reason,
        peer,
    };
    let done = act(&app.skail, what, order.ids, &because).await;
    let outcomes = done.map_err(Problem::bad)?.into_iter().map(|done| Outcome {
        id: done.id,
        done: done.outcome.is_ok(),
        problem: done.outcome.err().map(Into::into),
    });
    Ok(Json(Outcomes {
        outcomes: outcomes.collect(),
    }))
}

fn ordered<T>(order: Result<Json<T>, JsonRejection>) -> Result<T, Problem> {
    match order {
        Ok(Json(order)) => Ok(order),
        Err(error) => Err(Problem::refused(error.status(), error.body_text())),
    }
}

/// Lets failed or blocked executions go on, with fresh attempts. Finished steps do not run again.
#[utoipa::path(
    post,
    path = "/api/v1/resume",
    request_body = ResumeOrder,
    responses((status = 200, body = Outcomes), (status = 400, body = Problem))
)]
pub(super) async fn resume(
    State(app): State<Arc<App>>,
    Extension(peer): Extension<Peer>,
    order: Result<Json<ResumeOrder>, JsonRejection>,
) -> Result<Json<Outcomes>, Problem> {
    let order = ordered(order)?;
    let what = Act::Resume {
        accept_changed_arguments: order.accept_changed_arguments,
    };
    let order = Order {
        ids: order.ids,
        by: order.by,
        reason: order.reason,
    };
    perform(&app, what, order, peer).await
}

/// Takes executions at rest out of the store, with their histories and results.
#[utoipa::path(
    post,
    path = "/api/v1/delete",
    request_body = Order,
    responses((status = 200, body = Outcomes), (status = 400, body = Problem))
)]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(peer): Extension<Peer>,
    order: Result<Json<Order>, JsonRejection>,
) -> Result<Json<Outcomes>, Problem> {
    perform(&app, Act::Delete, ordered(order)?, peer).await
}
