//! The one form of every answer that is no success.

use axum::Json;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use skail_runtime::ExecutionError;
use skail_runtime::store::StoreError;
use utoipa::ToSchema;

/// Why a request was not answered as it wished.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// One word for programs: `bad_request`, `unauthorized`, `not_found`, `conflict`, `too_many` or `store`.
    pub(crate) code: &'static str,
    /// A sentence for people.
    pub(crate) message: String,
    #[serde(skip)]
    status: StatusCode,
}

impl Problem {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            status,
        }
    }

    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    /// What cannot be read as a request.
    pub(crate) fn refused(status: StatusCode, message: impl Into<String>) -> Self {
        Self::new(status, "bad_request", message)
    }

    pub(crate) fn too_many(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "too_many", message)
    }
}

/// The query of a request, or why it is none.
pub(super) type Asked<T> = Result<Query<T>, QueryRejection>;

/// What a request asks for.
pub(super) fn asked<T>(query: Asked<T>) -> Result<T, Problem> {
    match query {
        Ok(Query(asked)) => Ok(asked),
        Err(error) => Err(Problem::bad(error.body_text())),
    }
}

impl From<ExecutionError> for Problem {
    fn from(error: ExecutionError) -> Self {
        let (status, code) = match &error {
            ExecutionError::Unknown { .. } => (StatusCode::NOT_FOUND, "not_found"),
            ExecutionError::Id(_) => (StatusCode::BAD_REQUEST, "bad_request"),
            ExecutionError::Store(_) => (StatusCode::SERVICE_UNAVAILABLE, "store"),
            _ => (StatusCode::CONFLICT, "conflict"),
        };
        Self::new(status, code, error.to_string())
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        ExecutionError::Store(error).into()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.status, Json(self)).into_response()
    }
}

pub(super) fn token_needed() -> Response {
    let message = "this needs the Monitor's token, as `Authorization: Bearer …`";
    let problem = Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", message);
    let mut answer = problem.into_response();
    let bearer = HeaderValue::from_static("Bearer");
    answer
        .headers_mut()
        .insert(header::WWW_AUTHENTICATE, bearer);
    answer
}

pub(super) async fn nothing_here() -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "not_found",
        "there is nothing at this address; `/api/v1/openapi.json` lists what there is",
    )
}
