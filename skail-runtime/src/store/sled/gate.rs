//! Keeps readers from seeing what is not durable yet.
//!
//! Owns the list of executions that the group on its way to the disk changes. sled shows a write to
//! readers before it is on disk; whoever read one of these waits until it is. Must never hold up anyone
//! else.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::ids::ExecutionId;

#[derive(Debug, Default)]
pub(super) struct Gate {
    way: Mutex<Way>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Way {
    executions: HashSet<ExecutionId>,
    /// How many groups have arrived.
    groups: u64,
}

impl Gate {
    /// Before a group is written.
    pub(super) fn shut(&self, executions: HashSet<ExecutionId>) {
        self.lock().executions = executions;
    }

    /// When it is durable, or never will be.
    pub(super) fn open(&self) {
        let mut way = self.lock();
        way.executions.clear();
        way.groups += 1;
        drop(way);
        self.arrived.notify_all();
    }

    /// Returns when what was read of the execution before this call is durable.
    pub(super) fn pass(&self, id: &ExecutionId) {
        self.wait_while(|way| way.executions.contains(id));
    }

    /// Returns when what was read of any execution before this call is durable.
    pub(super) fn pass_all(&self) {
        self.wait_while(|way| !way.executions.is_empty());
    }

    fn wait_while(&self, on_its_way: impl Fn(&Way) -> bool) {
        let mut way = self.lock();
        let groups = way.groups;
        // Once the group has arrived, the next one is none of the reader's business.
        while way.groups == groups && on_its_way(&way) {
            way = self
                .arrived
                .wait(way)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Way> {
        self.way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
