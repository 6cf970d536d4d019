//! Puts a recorded history into a store, as if it had happened there.

use std::collections::BTreeMap;

use skail_runtime::clock::Timestamp;
use skail_runtime::history::{Event, Status};
use skail_runtime::store::{ClaimRequest, Commit, Header, HeaderChange, NewExecution, Store};
use skail_runtime::{ExecutionId, Sequence, WorkerId};

/// Imports the history of an execution that was running; it is due at once.
///
/// # Panics
/// If the history does not begin with a start, or the id is taken.
pub async fn import(store: &impl Store, id: &ExecutionId, mut history: Vec<Event>) {
    let rest = history.split_off(1);
    let first = history.remove(0);
    let Event::Started {
        at,
        function,
        arguments,
    } = &first
    else {
        panic!("a history begins with its start")
    };
    let (at, function) = (*at, function.clone());
    let header = Header {
        id: id.clone(),
        function: function.clone(),
        arguments: arguments.digest(),
        status: Status::Running,
        created_at: at,
        updated_at: at,
        due: Some(at),
        tags: BTreeMap::new(),
        problem: None,
    };
    store
        .create(NewExecution { header, first })
        .await
        .expect("the id is free");
    let claimed = store
        .claim(ClaimRequest {
            worker: WorkerId::generate(),
            now: at,
            until: Timestamp::MAX,
            limit: 1,
            functions: [function].into(),
        })
        .await
        .expect("it can be claimed");
    let lease = claimed.claims.into_iter().next().expect("it is due").lease;
    let header = HeaderChange {
        at,
        status: Status::Running,
        due: Some(at),
        problem: None,
    };
    let commit = Commit {
        lease,
        first: Sequence(1),
        events: rest,
        consumed: Vec::new(),
        header: Some(header),
        release: true,
    };
    store
        .commit(commit)
        .await
        .expect("the history can be written");
}
