//! Who waits for which execution to come to rest.
//!
//! Owns nothing durable: a waiter that is lost asks the store.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    waiting: Mutex<Waiting>,
    /// Executions that this process cannot work on, and why.
    broken: Mutex<HashMap<ExecutionId, StoreError>>,
}

impl Waiters {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers one more waiter. To lose no ending, register first and look at the store after.
    pub(crate) fn register(&self, id: &ExecutionId) -> oneshot::Receiver<Arc<Ending>> {
        let (sender, receiver) = oneshot::channel();
        let mut waiting = self.lock();
        if let Some(error) = &waiting.closed {
            let _ = sender.send(Arc::new(Ending::Broken(error.clone())));
            return receiver;
        }
        let senders = waiting.senders.entry(id.clone()).or_default();
        // Waiters that went away are forgotten here, so that polling with a timeout leaves nothing.
        senders.retain(|sender| !sender.is_closed());
        senders.push(sender);
        receiver
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

    /// Why this process cannot work on an execution, if it can't.
    pub(crate) fn broken(&self, id: &ExecutionId) -> Option<StoreError> {
        self.broken
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(id)
            .cloned()
    }
}
