//! What all requests share, and the order in which a request is judged.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use skail_runtime::Skail;
use tokio::sync::{Semaphore, watch};

use crate::guard::{self, Token};
use crate::{api, page};

/// The most bytes of a request's body: a thousand of the longest ids, as a form writes them.
const MOST_BODY: usize = 1024 * 1024;

/// How long a request may take, with the reading of its body.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// The most live streams at a time.
pub(crate) const MOST_STREAMS: usize = 64;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) skail: Skail,
    pub(crate) token: Option<Token>,
    /// Names that a request may ask for, besides `localhost` and IP addresses.
    pub(crate) hosts: Vec<String>,
    /// One place for each live stream.
    pub(crate) streams: Arc<Semaphore>,
    /// `true` when the Monitor stops.
    pub(crate) stopping: watch::Receiver<bool>,
}

impl App {
    pub(crate) fn new(
        skail: Skail,
        token: Option<Token>,
        hosts: Vec<String>,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        Self {
            skail,
            token,
            hosts,
            streams: Arc::new(Semaphore::new(MOST_STREAMS)),
            stopping,
        }
    }
}

/// Everything that is answered. The layers are judged from the last to the first.
pub(crate) fn router(app: &Arc<App>) -> Router {
    let inside = api::router()
        .merge(page::router())
        .layer(from_fn_with_state(Arc::clone(app), guard::token))
        .with_state(Arc::clone(app));
    inside
        .merge(page::assets())
        .layer(DefaultBodyLimit::max(MOST_BODY))
        .layer(from_fn(guard::origin))
        .layer(from_fn_with_state(Arc::clone(app), guard::host))
        .layer(from_fn(in_time))
        .layer(from_fn(guard::headers))
}

async fn in_time(request: Request, next: Next) -> Response {
    match tokio::time::timeout(ANSWER_WITHIN, next.run(request)).await {
        Ok(answer) => answer,
        Err(_) => (StatusCode::REQUEST_TIMEOUT, "this took too long").into_response(),
    }
}
