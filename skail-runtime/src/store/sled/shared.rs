//! What the handle, its readers and the keeper share.
//!
//! Owns the question whether the store still works, and the way of readers to the tree. Must never let a
//! reader call sled after a failed write.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use ::sled::Tree;

use super::gate::Gate;
#[cfg(target_os = "linux")]
use super::sync::SyncCounter;
use crate::store::StoreError;
use crate::store::changes::Announcer;

#[derive(Debug)]
pub(super) struct Shared {
    /// Gone once the store is closed.
    tree: RwLock<Option<Tree>>,
    stopped: OnceLock<Arc<str>>,
    closed: AtomicBool,
    pub(super) gate: Gate,
    pub(super) announcer: Announcer,
    #[cfg(target_os = "linux")]
    pub(super) syncs: Arc<SyncCounter>,
}

impl Shared {
    pub(super) fn new(tree: Tree, #[cfg(target_os = "linux")] syncs: Arc<SyncCounter>) -> Self {
        Self {
            tree: RwLock::new(Some(tree)),
            stopped: OnceLock::new(),
            closed: AtomicBool::new(false),
            gate: Gate::default(),
            announcer: Announcer::new(),
            #[cfg(target_os = "linux")]
            syncs,
        }
    }

    /// Stops the store for good; the first cause stands.
    pub(super) fn stop(&self, cause: &str) -> StoreError {
        let cause = self.stopped.get_or_init(|| Arc::from(cause));
        // Readers that wait for a group which never comes.
        self.gate.open();
        StoreError::Stopped {
            cause: Arc::clone(cause),
        }
    }

    /// Takes the tree away from readers, when those on their way are through.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        *self.tree.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Why nothing comes from the keeper any more.
    pub(super) fn ended(&self) -> StoreError {
        match self.stopped.get() {
            Some(cause) => StoreError::Stopped {
                cause: Arc::clone(cause),
            },
            None if self.is_closed() => StoreError::Closed,
            // The keeper is unwinding and has not said so yet.
            None => StoreError::Stopped {
                cause: Arc::from("the thread that owns it panicked"),
            },
        }
    }

    /// Reads the tree. Blocks while a group is on its way that holds what was read.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Tree) -> Result<T, StoreError>,
        pass: impl FnOnce(&Gate),
    ) -> Result<T, StoreError> {
        if self.stopped.get().is_some() {
            return Err(self.ended());
        }
        let tree = self.tree.read().unwrap_or_else(PoisonError::into_inner);
        let Some(tree) = &*tree else {
            return Err(StoreError::Closed);
        };
        let answer = read(tree);
        pass(&self.gate);
        if self.stopped.get().is_some() {
            // What was read may never have become durable.
            return Err(self.ended());
        }
        answer
    }
}
