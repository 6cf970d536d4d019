//! Deletes executions that ended long enough ago.
//!
//! Owns a task that reads the headers page by page and asks the store to delete those whose time is up.
//! What is kept for how long is asked at each round, so a new setting holds for old executions too. Must
//! never decide what may be deleted: the store refuses what runs, is leased, or was resumed meanwhile.

use std::sync::Arc;
use std::time::Duration;

use super::reach::reach;
use super::shared::Shared;
use crate::clock::Timestamp;
use crate::history::Status;
use crate::store::{Header, Query, StoreError};

/// The most and the least time between two rounds.
const RARELY: Duration = Duration::from_secs(3_600);
const OFTEN: Duration = Duration::from_secs(1);

/// How soon after the start the first round comes: also a process that never lives for an hour tidies up.
const FIRST: Duration = Duration::from_secs(60);

/// How many headers are looked at, and how many executions deleted at most, at a time.
const PAGE: usize = 256;

/// How long executions are kept once they have ended; for ever unless set.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Retention {
    pub(crate) completed: Option<Duration>,
    pub(crate) failed: Option<Duration>,
}

impl Retention {
    fn of(self, status: Status) -> Option<Duration> {
        match status {
            Status::Completed => self.completed,
            Status::Failed => self.failed,
            // Its code has changed, not its work: it waits for another deploy.
            Status::Blocked | Status::Running => None,
        }
    }

    /// Whether an execution's time is up.
    fn is_over(self, header: &Header, now: Timestamp) -> bool {
        let keep = self.of(header.status);
        keep.is_some_and(|keep| header.updated_at.saturating_add(keep) <= now)
    }

    /// The time between two rounds; `None` if everything is kept.
    fn period(self) -> Option<Duration> {
        let shortest = self.completed.into_iter().chain(self.failed).min()?;
        Some((shortest / 8).clamp(OFTEN, RARELY))
    }
}

/// Runs until the shutdown begins or the store is gone; at once if everything is kept.
pub(super) async fn run(shared: Arc<Shared>) {
    let Some(period) = shared.settings.retention.period() else {
        return;
    };
    let mut stopping = shared.stopping.subscribe();
    let mut next = shared.clock.now().saturating_add(period.min(FIRST));
    loop {
        tokio::select! {
            biased;
            _ = stopping.wait_for(|stopping| *stopping) => return,
            () = shared.clock.sleep_until(next) => {}
        }
        // A virtual clock stands still meanwhile.
        let _working = shared.clock.working();
        match round(&shared).await {
            Ok(0) => {}
            Ok(deleted) => tracing::info!(deleted, "executions that ended long ago were deleted"),
            // The scheduler says so too, and ends.
            Err(error) => return tracing::debug!(%error, "no more executions are deleted"),
        }
        next = shared.clock.now().saturating_add(period);
    }
}

/// Looks at every execution once; says how many were deleted.
async fn round(shared: &Shared) -> Result<usize, StoreError> {
    let mut query = Query {
        limit: PAGE,
        ..Query::default()
    };
    let mut deleted = 0;
    while !shared.is_stopping() {
        let page = reach(shared, || shared.store.list(query.clone())).await?;
        let now = shared.clock.now();
        let over = page.headers.into_iter();
        let over = over.filter(|header| shared.settings.retention.is_over(header, now));
        let ids: Vec<_> = over.map(|header| header.id).collect();
        if !ids.is_empty() {
            deleted += reach(shared, || shared.store.delete(ids.clone())).await?;
        }
        match page.next {
            Some(after) => query.after = Some(after),
            None => break,
        }
    }
    Ok(deleted)
}
