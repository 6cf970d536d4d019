//! What can go wrong in a store, and what to do about it.

use std::sync::Arc;

use crate::ids::{Epoch, ExecutionId};

/// A store's fault. It is never recorded as a user's failure and never costs an attempt.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The lease is not the current one. Control flow more than an error: the owner stops.
    #[error("execution `{execution}`: the lease with epoch {} is no longer valid; another worker owns the execution", .epoch.0)]
    Fenced {
        /// The execution.
        execution: ExecutionId,
        /// The epoch that was refused.
        epoch: Epoch,
    },
    /// A record of one execution cannot be read. Others go on.
    #[error(
        "execution `{execution}`: {what} cannot be read: {reason}; the other executions go on. Restore the store from a backup, or delete this execution"
    )]
    Damaged {
        /// The execution.
        execution: ExecutionId,
        /// Which record.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A commit that contradicts what is stored: a defect in Skail, not in the caller's data.
    #[error(
        "execution `{execution}`: the store refuses a commit: {reason}; this is a defect in Skail, please report it"
    )]
    Contradiction {
        /// The execution.
        execution: ExecutionId,
        /// What does not fit.
        reason: String,
    },
    /// The store stopped for good after a failed write; nothing that it acknowledged is lost.
    #[error(
        "the store stopped after a failed write and takes no more work: {cause}; free the disk or repair it, then start the process again: everything acknowledged is there"
    )]
    Stopped {
        /// The first error.
        cause: Arc<str>,
    },
    /// The store was closed.
    #[error("the store is closed; open it again to go on")]
    Closed,
    /// The store cannot be reached now; the call can be tried again.
    #[error("the store cannot be reached: {reason}")]
    Unavailable {
        /// What the driver said.
        reason: String,
    },
}
