//! What every store has to do, as checks that every store runs.
//!
//! Owns the contract of [`Store`] in executable form. Each check is a function with the
//! name of what it claims, on a fresh store of its own. Must never know a store's insides: how a store is
//! made, opened again and damaged is for its [`Subject`] to say.
//!
//! ```
//! use skail_runtime::store::MemoryStore;
//! use skail_runtime::store::conformance::{self, Extent, Subject};
//!
//! struct Memory;
//!
//! impl Subject for Memory {
//!     type Store = MemoryStore;
//!
//!     async fn fresh(&self) -> MemoryStore {
//!         MemoryStore::new()
//!     }
//!
//!     async fn reopen(&self, store: MemoryStore) -> MemoryStore {
//!         store.crash()
//!     }
//!
//!     async fn damage(&self, store: MemoryStore, id: &skail_runtime::ExecutionId) -> MemoryStore {
//!         store.damage(id);
//!         store
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(
//! conformance::run_all(&Memory, Extent::Quick)
//! # );
//! ```
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "these are tests, compiled into the library so that stores of other crates can run them"
)]

mod claims;
mod commits;
mod creation;
mod endings;
mod kit;
mod lists;
mod mail;
mod searches;
mod suspects;
mod walk;

use std::future::Future;
use std::ops::Range;

use super::Store;
use crate::ids::ExecutionId;

/// How a store is made for a check.
pub trait Subject: Sync {
    /// The store.
    type Store: Store;

    /// A store that holds nothing.
    fn fresh(&self) -> impl Future<Output = Self::Store> + Send;

    /// The same data opened again. If the store was not closed before, that is an unclean stop.
    fn reopen(&self, store: Self::Store) -> impl Future<Output = Self::Store> + Send;

    /// Makes the header of an execution unreadable. May close and open the store to do so.
    fn damage(
        &self,
        store: Self::Store,
        id: &ExecutionId,
    ) -> impl Future<Output = Self::Store> + Send;
}

/// How much is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What a test suite has time for.
    Quick,
    /// A million headers, and random walks for minutes.
    Long,
}

/// Says which check it was when one panics.
struct Running(&'static str);

impl Drop for Running {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the store fails the check `{}`", self.0);
        }
    }
}

/// Runs every check, one after the other. Panics at the first that fails.
pub async fn run_all<S: Subject>(subject: &S, extent: Extent) {
    macro_rules! run {
        ($($module:ident: $($check:ident)*;)*) => {
            $($({
                let running = Running(stringify!($check));
                Box::pin($module::$check(subject)).await;
                drop(running);
            })*)*
        };
    }
    run! {
        creation:
            a_created_execution_can_be_read
            a_second_create_writes_nothing_and_returns_what_stands
            eight_parallel_creates_make_one_execution
            ids_and_names_of_every_shape_are_kept
            events_of_every_size_come_back
            ;
        commits:
            a_history_is_in_order_and_comes_in_pages
            a_commit_changes_everything_at_once
            a_commit_of_many_events_is_paged_in_the_middle
            a_commit_that_leaves_a_gap_is_refused_and_changes_nothing
            a_stale_lease_is_fenced
            commits_of_many_executions_do_not_mix
            a_dropped_commit_happened_whole_or_not_at_all
            headers_can_change_often
            what_is_read_during_changes_is_whole
            ;
        claims:
            only_what_is_due_is_claimed_oldest_first
            a_claim_takes_no_more_than_its_limit
            a_claim_takes_named_functions_only
            functions_named_later_find_what_was_passed_over
            what_is_due_in_the_past_is_found_late
            two_workers_never_claim_the_same
            an_ended_lease_is_claimed_again_with_a_higher_epoch
            a_lease_past_its_end_works_until_it_is_claimed
            a_renewed_lease_lasts
            a_released_execution_is_claimable_at_once
            an_execution_is_claimable_again_when_it_is_due_again
            a_due_time_can_move_while_it_is_leased
            next_due_names_what_comes
            the_history_at_hand_is_the_history
            ;
        mail:
            messages_keep_their_order_and_are_consumed_by_commits
            a_message_wakes_an_execution_at_rest
            a_message_that_wakes_nobody_leaves_the_due_time
            mail_that_comes_during_a_lease_counts_when_it_ends
            nobody_and_the_ended_get_no_mail
            ;
        lists:
            a_list_is_in_order_and_filtered
            deleted_executions_are_gone_and_their_ids_free
            only_what_is_at_rest_is_deleted
            what_was_resumed_is_not_deleted
            a_long_history_is_deleted_whole
            a_damaged_execution_is_named_and_stops_nobody
            ;
        searches:
            what_is_looked_for_is_found_newest_first
            a_search_by_prefix_is_in_the_order_of_ids
            a_damaged_execution_hides_no_other
            pages_stay_while_executions_move
            steps_change_no_list
            ;
        endings:
            a_closed_store_refuses_everything
            everything_is_there_after_a_crash
            everything_is_there_after_a_close
            epochs_and_messages_grow_across_openings
            changes_are_told
            ;
        suspects:
            after_a_crash_what_can_be_claimed_is_suspect_once
            after_a_close_nothing_is_suspect
            a_suspect_that_was_not_claimed_stays_one
            a_suspect_that_was_claimed_is_none_after_a_close
            what_was_created_after_the_crash_is_not_suspect
            ;
    }
    run_large(subject, extent).await;
}

/// Runs what takes as long as one has time for.
async fn run_large<S: Subject>(subject: &S, extent: Extent) {
    let headers = match extent {
        Extent::Quick => 3_000,
        Extent::Long => 1_000_000,
    };
    let running = Running("every_header_is_listed_once");
    Box::pin(lists::every_header_is_listed_once(subject, headers)).await;
    drop(running);
    let walks = match extent {
        Extent::Quick => 12,
        Extent::Long => 1_000,
    };
    run_walks(subject, 0..walks).await;
}

/// Does random things to a store and the memory store side by side, and compares them at every step; once
/// for each seed. Part of [`run_all`].
pub async fn run_walks<S: Subject>(subject: &S, seeds: Range<u64>) {
    for seed in seeds {
        let walking = Walking(seed);
        Box::pin(walk::a_random_walk_goes_as_in_memory(subject, seed)).await;
        drop(walking);
    }
}

/// Says which walk it was when one panics.
struct Walking(u64);

impl Drop for Walking {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the store fails the random walk with seed {}", self.0);
        }
    }
}
