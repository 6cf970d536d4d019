//! The whole store at a glance.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use skail_runtime::history::Status;
use skail_runtime::store::StoreError;
use skail_runtime::{DependencyStatus, Skail};
use utoipa::ToSchema;

use super::problem::Problem;
use crate::app::App;

/// How many executions stand where.
#[derive(Debug, Clone, Copy, Default, Serialize, ToSchema)]
pub(crate) struct Counts {
    /// Worked on, or waiting for a time.
    pub(crate) running: u64,
    /// Code and history disagree.
    pub(crate) blocked: u64,
    /// Attempts are spent.
    pub(crate) failed: u64,
    /// Ended with a result.
    pub(crate) completed: u64,
}

impl Counts {
    fn add(&mut self, status: Status, executions: u64) {
        match status {
            Status::Running => self.running += executions,
            Status::Blocked => self.blocked += executions,
            Status::Failed => self.failed += executions,
            Status::Completed => self.completed += executions,
            _ => {}
        }
    }
}

/// The executions of one function.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FunctionCounts {
    /// The recorded name.
    pub(crate) name: String,
    /// Whether this process can run it. If not, its executions wait for one that can.
    pub(crate) known: bool,
    /// Where they stand.
    #[serde(flatten)]
    pub(crate) counts: Counts,
}

/// Where something outside stands that commands call.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Dependency {
    /// Its name.
    pub(crate) name: String,
    /// Its circuit breaker: `closed`, `open` or `half-open`; missing without one.
    pub(crate) circuit: Option<String>,
    /// How many retries its budget has left; missing without one.
    pub(crate) retries_left: Option<u64>,
    /// Attempts that wait for the breaker.
    pub(crate) waiting_for_breaker: u64,
    /// Retries that wait for the budget.
    pub(crate) waiting_for_budget: u64,
    /// First attempts since this engine started.
    pub(crate) first_attempts: u64,
    /// Further attempts since this engine started.
    pub(crate) retries: u64,
    /// Attempts that gave a result.
    pub(crate) succeeded: u64,
    /// Attempts that failed.
    pub(crate) failed: u64,
}

impl Dependency {
    fn new(name: String, status: &DependencyStatus) -> Self {
        Self {
            name,
            circuit: status.circuit.map(|circuit| circuit.to_string()),
            retries_left: status.retries_left,
            waiting_for_breaker: status.waiting_for_breaker,
            waiting_for_budget: status.waiting_for_budget,
            first_attempts: status.counts.first_attempts,
            retries: status.counts.retries,
            succeeded: status.counts.succeeded,
            failed: status.counts.failed,
        }
    }
}

/// The whole store at a glance.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Overview {
    /// What time it is for the engine.
    pub(crate) now: i64,
    /// All executions.
    pub(crate) executions: Counts,
    /// Those of each function, by name.
    pub(crate) functions: Vec<FunctionCounts>,
    /// What commands call, by name.
    pub(crate) dependencies: Vec<Dependency>,
}

impl Overview {
    pub(crate) async fn of(skail: &Skail) -> Result<Self, StoreError> {
        let mut all = Counts::default();
        let known = skail.functions();
        // A function without executions is shown, too.
        let mut by_name: BTreeMap<String, Counts> = known
            .iter()
            .map(|name| (name.clone(), Counts::default()))
            .collect();
        for count in skail.counts().await? {
            all.add(count.status, count.executions);
            let counts = by_name.entry(count.function).or_default();
            counts.add(count.status, count.executions);
        }
        let functions = by_name.into_iter().map(|(name, counts)| FunctionCounts {
            known: known.contains(&name),
            name,
            counts,
        });
        let dependencies = skail.dependencies().into_iter();
        Ok(Self {
            now: skail.now().as_millis(),
            executions: all,
            functions: functions.collect(),
            dependencies: dependencies
                .map(|(name, status)| Dependency::new(name, &status))
                .collect(),
        })
    }
}

/// The whole store at a glance: counts by status and function, and where dependencies stand.
#[utoipa::path(
    get,
    path = "/api/v1/overview",
    responses((status = 200, body = Overview), (status = 503, body = Problem))
)]
pub(super) async fn overview(State(app): State<Arc<App>>) -> Result<Json<Overview>, Problem> {
    Ok(Json(Overview::of(&app.skail).await?))
}
