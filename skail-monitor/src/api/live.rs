//! Server-sent events: a stream that says when what a page shows has changed.
//!
//! It says only that, and the page asks for what it shows: a client that is slow misses nothing.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures::Stream;
use futures::stream::unfold;
use serde::Deserialize;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, interval_at};
use utoipa::IntoParams;

use super::problem::{Asked, Problem, asked};
use crate::app::{App, MOST_STREAMS};
use crate::live::Shown;
use crate::search::Wanted;
use crate::server::stopped;

/// How often it is looked, at most.
const PERIOD: Duration = Duration::from_millis(500);

/// A look that takes long is followed by a rest of so many times its length.
const RESTS: u32 = 10;

/// What to watch.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Watched {
    /// One execution, by its id.
    id: Option<String>,
    /// `list`: what the other parameters, those of `/api/v1/executions`, find. Without `id` and `show`, the
    /// overview.
    show: Option<String>,
    /// The last event that was received: the first is left out if nothing has changed since.
    seen: Option<String>,
}

/// One stream, from look to look.
struct Watch {
    app: Arc<App>,
    shown: Shown,
    seen: Option<String>,
    rest: Duration,
    /// Given back when the client goes.
    _place: OwnedSemaphorePermit,
}

/// A stream of server-sent events: a `changed` whenever what is watched has changed, with a text as its data
/// that says what it looks like now. At most 64 at a time.
#[utoipa::path(
    get,
    path = "/api/v1/live",
    params(Watched),
    responses(
        (status = 200, content_type = "text/event-stream", body = String),
        (status = 400, body = Problem),
        (status = 503, body = Problem)
    )
)]
pub(super) async fn live(
    State(app): State<Arc<App>>,
    watched: Asked<Watched>,
    request: axum::extract::Request,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let watched = asked(watched)?;
    let shown = match (watched.id, watched.show.as_deref()) {
        (Some(id), _) => Shown::Execution { id, events: 0 },
        (None, Some("list")) => {
            let pairs = asked(Query::try_from_uri(request.uri()))?;
            let search = Wanted::of_pairs(pairs).search().map_err(Problem::bad)?;
            Shown::List(Box::new(search))
        }
        (None, None) => Shown::Overview,
        (None, Some(_)) => return Err(Problem::bad("`show` is `list`, or is left out")),
    };
    let Ok(place) = Arc::clone(&app.streams).try_acquire_owned() else {
        let message = format!("there are {MOST_STREAMS} live streams; try again later");
        return Err(Problem::too_many(message));
    };
    let watch = Watch {
        app,
        shown,
        seen: watched.seen,
        rest: Duration::ZERO,
        _place: place,
    };
    let events = unfold(watch, |watch| async move {
        let (text, watch) = watch.next().await?;
        Some((Ok(Event::default().event("changed").data(text)), watch))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

impl Watch {
    /// Waits for the next change. `None` when the Monitor stops, or the store has.
    async fn next(mut self) -> Option<(String, Self)> {
        loop {
            let mut alarm = interval_at(Instant::now() + self.rest, PERIOD);
            let mut stopping = self.app.stopping.clone();
            tokio::select! {
                biased;
                () = stopped(&mut stopping) => return None,
                _ = alarm.tick() => {}
            }
            let begun = Instant::now();
            let text = self.shown.look(&self.app.skail).await.ok()?;
            self.rest = PERIOD.max(begun.elapsed() * RESTS);
            if self.seen.as_deref() != Some(&text) {
                self.seen = Some(text.clone());
                return Some((text, self));
            }
        }
    }
}
