//! What the checks are written with.

use std::sync::Arc;

use crate::clock::Timestamp;
use crate::codec::Payload;
use crate::history::{Event, Status, Step, StepKind};
use crate::ids::{ExecutionId, Position, Sequence, WorkerId};
use crate::store::{
    Claim, ClaimRequest, Claimed, Commit, Created, Header, HeaderChange, Lease, Message, MessageId,
    NewExecution, Store,
};

pub(super) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(super) fn id(name: impl AsRef<str>) -> ExecutionId {
    ExecutionId::new(name).unwrap()
}

/// An execution of `function`, due at `due`.
pub(super) fn new(name: impl AsRef<str>, function: &str, due: i64) -> NewExecution {
    new_with(
        name,
        function,
        due,
        &Payload::encode(&("argument", 7)).unwrap(),
    )
}

pub(super) fn new_with(
    name: impl AsRef<str>,
    function: &str,
    due: i64,
    arguments: &Payload,
) -> NewExecution {
    let header = Header {
        id: id(name),
        function: function.to_owned(),
        arguments: arguments.digest(),
        status: Status::Running,
        created_at: at(1),
        updated_at: at(1),
        due: Some(at(due)),
        tags: [("customer".to_owned(), "17".to_owned())].into(),
        problem: None,
    };
    let first = Event::Started {
        at: at(1),
        function: function.to_owned(),
        arguments: arguments.clone(),
    };
    NewExecution { header, first }
}

pub(super) async fn create(store: &impl Store, new: NewExecution) {
    assert_eq!(store.create(new).await.unwrap(), Created::New);
}

/// A completed step whose result is `size` bytes.
pub(super) fn step(position: u32, size: usize) -> Event {
    let arguments = Payload::encode(&position).unwrap();
    Event::CommandCompleted {
        at: at(i64::from(position)),
        step: Step {
            position: Position(position),
            kind: StepKind::Command,
            name: "command".to_owned(),
            digest: arguments.digest(),
            arguments,
        },
        attempts: 1,
        result: Payload::encode(&filler(size)).unwrap(),
    }
}

/// Text that no engine compresses to nothing.
pub(super) fn filler(size: usize) -> String {
    let mut random = fastrand::Rng::with_seed(size as u64);
    std::iter::repeat_with(|| random.alphanumeric())
        .take(size)
        .collect()
}

pub(super) fn completed() -> Event {
    Event::Completed {
        at: at(9),
        result: Payload::encode(&"done").unwrap(),
    }
}

pub(super) fn request(now: i64, until: i64, limit: usize, functions: &[&str]) -> ClaimRequest {
    let functions: Vec<String> = functions.iter().map(|&name| name.to_owned()).collect();
    ClaimRequest {
        worker: WorkerId::generate(),
        now: at(now),
        until: at(until),
        limit,
        functions: Arc::from(functions),
    }
}

pub(super) async fn claim(store: &impl Store, now: i64, until: i64, limit: usize) -> Vec<Claim> {
    let claimed = store
        .claim(request(now, until, limit, &["f"]))
        .await
        .unwrap();
    let Claimed { claims, damaged } = claimed;
    assert!(damaged.is_empty(), "{damaged:?}");
    claims
}

/// Claims the one execution that is due.
pub(super) async fn claim_one(store: &impl Store, now: i64, until: i64) -> Claim {
    let mut claims = claim(store, now, until, 10).await;
    assert_eq!(claims.len(), 1, "{claims:?}");
    claims.pop().unwrap()
}

pub(super) fn names(claims: &[Claim]) -> Vec<&str> {
    claims
        .iter()
        .map(|claim| claim.lease.execution.as_str())
        .collect()
}

/// A commit of events that changes nothing else.
pub(super) fn commit(lease: &Lease, first: u64, events: Vec<Event>) -> Commit {
    Commit {
        lease: lease.clone(),
        first: Sequence(first),
        events,
        consumed: Vec::new(),
        header: None,
        release: false,
    }
}

/// A commit that gives the lease back with this status and due time.
pub(super) fn leave(
    lease: &Lease,
    first: u64,
    events: Vec<Event>,
    status: Status,
    due: Option<i64>,
) -> Commit {
    Commit {
        header: Some(change(status, due)),
        release: true,
        ..commit(lease, first, events)
    }
}

pub(super) fn change(status: Status, due: Option<i64>) -> HeaderChange {
    HeaderChange {
        at: at(50),
        status,
        due: due.map(at),
        problem: (status == Status::Failed).then(|| "it failed".to_owned()),
    }
}

pub(super) fn resume() -> Message {
    Message::Resume {
        accept_changed_arguments: None,
    }
}

/// The whole history; the last event, asked for by itself, has to be its end.
pub(super) async fn history(store: &impl Store, name: &str) -> Vec<Event> {
    let whole = async || {
        let events = store.history(&id(name), Sequence(0), usize::MAX).await;
        events.unwrap()
    };
    let events = whole().await;
    let last = store.last_event(&id(name)).await.unwrap();
    if events.last() == last.as_ref() {
        return events;
    }
    // A commit whose future was dropped may have come between the two looks; a third one sees it.
    let events = whole().await;
    assert!(events.last() == last.as_ref(), "{name}: {last:?}");
    events
}

pub(super) async fn header(store: &impl Store, name: &str) -> Header {
    store.header(&id(name)).await.unwrap().unwrap()
}

pub(super) async fn inbox(store: &impl Store, name: &str) -> Vec<MessageId> {
    let messages = store.inbox(&id(name), usize::MAX).await.unwrap();
    messages.into_iter().map(|(id, _)| id).collect()
}

/// Runs futures side by side on threads of the runtime and returns what they gave.
pub(super) async fn together<F>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let mut tasks = tokio::task::JoinSet::new();
    futures
        .into_iter()
        .for_each(|future| drop(tasks.spawn(future)));
    tasks.join_all().await
}
