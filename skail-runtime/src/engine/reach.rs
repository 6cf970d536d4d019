//! Calls of a store that may be out of reach for a while.

use std::future::Future;
use std::time::Duration;

use super::shared::Shared;
use crate::retry::{Backoff, Jitter};
use crate::store::StoreError;

/// How long to leave a store alone that cannot be reached.
pub(super) const STORE_BACKOFF: Backoff = Backoff::checked_by_the_attribute(
    Duration::from_millis(100),
    2.0,
    Duration::from_secs(5),
    Jitter::Equal,
);

/// Makes a call again and again until the store can be reached: that is our fault and costs the user's
/// code no attempt. Only a shutdown gives up, after its grace.
pub(super) async fn reach<T, F>(
    shared: &Shared,
    mut call: impl FnMut() -> F,
) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let mut failures = 0;
    let mut give_up = None;
    loop {
        let error = match call().await {
            Err(error @ StoreError::Unavailable { .. }) => error,
            answer => return answer,
        };
        let now = shared.clock.now();
        if shared.is_stopping() {
            let until = now.saturating_add(shared.settings.shutdown_grace);
            if *give_up.get_or_insert(until) <= now {
                return Err(error);
            }
        }
        tracing::warn!(%error, "trying again");
        let delay = STORE_BACKOFF.delay(failures, None, shared.random());
        failures = failures.saturating_add(1);
        shared.clock.sleep_until(now.saturating_add(delay)).await;
    }
}
