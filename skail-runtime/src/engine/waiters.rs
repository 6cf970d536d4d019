//! Who waits for which execution to come to rest.
//!
//! Owns nothing durable: a waiter that is lost asks the store.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::sync::oneshot;

use crate::codec::Payload;
use crate::error::Failure;
use crate::history::BlockReason;
use crate::ids::ExecutionId;
use crate::store::StoreError;

/// How an execution came to rest.
#[derive(Debug, Clone)]
pub(crate) enum Ending {
    /// With a result.
    Completed(Payload),
    /// Its attempts are spent.
    Failed { attempts: u32, failure: Failure },
    /// It cannot go on with this code.
    Blocked(BlockReason),
    /// The engine cannot work on it: damage, or a store that stopped.
    Broken(StoreError),
    /// Something happened elsewhere; ask the store.
    AskTheStore,
}

#[derive(Debug, Default)]
struct Waiting {
    senders: HashMap<ExecutionId, Vec<oneshot::Sender<Arc<Ending>>>>,
    /// The engine is gone: what everybody is told who waits, or will.
    closed: Option<StoreError>,
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Resolves to how the execution came to rest. Dropped before, it leaves nothing behind: most results are
/// asked for when they have long been there.
#[derive(Debug)]
pub(crate) struct Waiter {
    id: ExecutionId,
    receiver: oneshot::Receiver<Arc<Ending>>,
    waiting: Arc<Mutex<Waiting>>,
}

impl Future for Waiter {
    type Output = Result<Arc<Ending>, oneshot::error::RecvError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.get_mut().receiver).poll(cx)
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        if self.receiver.is_terminated() {
            return;
        }
        self.receiver.close();
        let mut waiting = lock(&self.waiting);
        if let Some(senders) = waiting.senders.get_mut(&self.id) {
            senders.retain(|sender| !sender.is_closed());
            if senders.is_empty() {
                waiting.senders.remove(&self.id);
            }
        }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    waiting: Arc<Mutex<Waiting>>,
    /// Executions that this process cannot work on, and why.
    broken: Mutex<HashMap<ExecutionId, StoreError>>,
}

impl Waiters {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.waiting)
    }

    /// Registers one more waiter. To lose no ending, register first and look at the store after.
    pub(crate) fn register(&self, id: &ExecutionId) -> Waiter {
        let (sender, receiver) = oneshot::channel();
        let mut waiting = self.lock();
        if let Some(error) = &waiting.closed {
            let _ = sender.send(Arc::new(Ending::Broken(error.clone())));
        } else {
            waiting.senders.entry(id.clone()).or_default().push(sender);
        }
        Waiter {
            id: id.clone(),
            receiver,
            waiting: Arc::clone(&self.waiting),
        }
    }

    /// Tells all who wait for this execution.
    pub(crate) fn tell(&self, id: &ExecutionId, ending: Ending) {
        let Some(senders) = self.lock().senders.remove(id) else {
            return;
        };
        let ending = Arc::new(ending);
        for sender in senders {
            let _ = sender.send(Arc::clone(&ending));
        }
    }

    /// Tells everybody.
    pub(crate) fn tell_all(&self, ending: &Ending) {
        let ids: Vec<ExecutionId> = self.lock().senders.keys().cloned().collect();
        for id in ids {
            self.tell(&id, ending.clone());
        }
    }

    /// The engine is gone: nobody will be told anything else any more.
    pub(crate) fn close(&self, error: &StoreError) {
        self.lock().closed.get_or_insert_with(|| error.clone());
        self.tell_all(&Ending::Broken(error.clone()));
    }

    /// Sets an execution aside that cannot be worked on, and tells who waits for it.
    pub(crate) fn set_aside(&self, id: &ExecutionId, error: StoreError) {
        self.broken
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id.clone(), error.clone());
        self.tell(id, Ending::Broken(error));
    }

    /// An execution that was set aside can be worked on after all: it was deleted and started again.
    pub(crate) fn mended(&self, id: &ExecutionId) {
        self.broken
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(id);
    }

    /// Why this process cannot work on an execution, if it can't.
    pub(crate) fn broken(&self, id: &ExecutionId) -> Option<StoreError> {
        self.broken
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(id)
            .cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_stops_waiting_leaves_nothing_and_takes_nothing_from_others() {
        let waiters = Waiters::default();
        let id = ExecutionId::generate();
        let stays = waiters.register(&id);
        let goes = waiters.register(&id);
        drop(goes);
        waiters.tell(&id, Ending::AskTheStore);
        stays.await.expect("it is told");

        for _ in 0..1_000 {
            drop(waiters.register(&ExecutionId::generate()));
        }
        assert!(waiters.lock().senders.is_empty());
    }
}
