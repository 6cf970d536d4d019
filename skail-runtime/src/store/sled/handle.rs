//! An open tree, and how it is let go of.
//!
//! Owns sled's handle. Must never let sled's own panics, of which its destructor has some when the disk
//! fails, end the process: a second panic while one is under way would.

use std::mem;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use ::sled::{Db, Tree};

/// Closes the tree when it is dropped, unless sled has just panicked: then it stays open until the
/// process ends. Clones of the tree keep it open too, so they go first.
#[derive(Debug)]
pub(super) struct Handle(Option<Db>);

impl Handle {
    pub(super) fn new(db: Db) -> Self {
        Self(Some(db))
    }
}

impl Deref for Handle {
    type Target = Tree;

    fn deref(&self) -> &Tree {
        self.0.as_ref().expect("it is taken by drop alone")
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let db = self.0.take();
        if thread::panicking() {
            mem::forget(db);
        } else if catch_unwind(AssertUnwindSafe(|| drop(db))).is_err() {
            tracing::warn!(
                "sled panicked while it closed a store; what was acknowledged is on disk"
            );
        }
    }
}
