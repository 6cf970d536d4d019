//! The bound on running command bodies.
//!
//! Owns what a place is and how one is waited for. A start that is recorded before its body runs is
//! recorded when it has its place and not before: an attempt that only waited for its turn when the
//! process died has not begun, and must not be counted.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::shared::Shared;
use crate::clock::WorkGuard;
use crate::descriptor::Body;

/// A place under the bounds. A blocking body keeps its own until it returns, also when nobody waits for it
/// any longer: its thread is in use.
pub(super) type Place = Arc<Vec<OwnedSemaphorePermit>>;

/// The bounds that hold for a body. The one for blocking bodies comes first: who waits for it holds nobody
/// else up.
fn bounds(shared: &Shared, body: Body) -> impl Iterator<Item = &Arc<Semaphore>> {
    let blocking = match body {
        Body::Async(_) => None,
        Body::Blocking(_) => Some(&shared.blocking),
    };
    blocking.into_iter().chain([&shared.commands])
}

/// Waits for a place. Those before it may need time to pass, so a virtual clock is let go meanwhile.
pub(super) async fn place(shared: &Shared, body: Body, working: WorkGuard) -> (Place, WorkGuard) {
    if let Some(place) = free_place(shared, body) {
        return (place, working);
    }
    drop(working);
    let mut place = Vec::with_capacity(2);
    for bound in bounds(shared, body) {
        // The semaphores are never closed.
        place.extend(Arc::clone(bound).acquire_owned().await);
    }
    (Arc::new(place), shared.clock.working())
}

/// A place, if one is free now.
pub(super) fn free_place(shared: &Shared, body: Body) -> Option<Place> {
    let free = bounds(shared, body).map(|bound| Arc::clone(bound).try_acquire_owned().ok());
    free.collect::<Option<Vec<_>>>().map(Arc::new)
}
