//! A load on a store whose every byte can be predicted.
//!
//! Executions take steps of many sizes, change their headers, complete, and make room for new ones. What
//! event stands at a place of a history follows from the execution's id and the place.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use skail_runtime::clock::Timestamp;
use skail_runtime::codec::Payload;
use skail_runtime::history::{Event, Status, Step, StepKind};
use skail_runtime::store::{
    Claim, ClaimRequest, Commit, Header, HeaderChange, NewExecution, Query, SledStore, Store,
};
use skail_runtime::{ExecutionId, Position, Sequence, WorkerId};

/// How long a history becomes.
pub(crate) const LENGTH: u64 = 14;

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis as i64)
}

/// The event that stands at `sequence` in the history of `id`. Those of ids that begin with `s` are small.
pub(crate) fn event(id: &str, sequence: u64) -> Event {
    let size = match (id.len() as u64 + sequence) % 11 {
        n if id.starts_with('s') => 30 * n,
        3 => 20_000,
        7 => 3_000,
        n => 40 + n,
    };
    let payload = Payload::encode(&format!("{id}/{sequence} ").repeat(size as usize / 10)).unwrap();
    match sequence {
        0 => Event::Started {
            at: at(0),
            function: "load".to_owned(),
            arguments: payload,
        },
        LENGTH => Event::Completed {
            at: at(sequence),
            result: payload,
        },
        _ => Event::CommandCompleted {
            at: at(sequence),
            step: Step {
                position: Position(sequence as u32),
                kind: StepKind::Command,
                name: "step".to_owned(),
                digest: payload.digest(),
                arguments: Payload::encode(&sequence).unwrap(),
            },
            attempts: 1,
            result: payload,
        },
    }
}

/// An execution that is due at once.
pub(crate) fn execution(id: &str) -> NewExecution {
    let first = event(id, 0);
    let header = Header {
        id: ExecutionId::new(id).unwrap(),
        function: "load".to_owned(),
        arguments: Payload::encode(id).unwrap().digest(),
        status: Status::Running,
        created_at: at(0),
        updated_at: at(0),
        due: Some(at(0)),
        tags: [("round".to_owned(), id.to_owned())].into(),
        problem: None,
    };
    NewExecution { header, first }
}

/// Hears what is tried and what was acknowledged, in the order of each execution.
pub(crate) trait Listener: Send + Sync + 'static {
    /// A commit is on its way that makes the history this long; 1 is a creation.
    fn tried(&self, id: &str, length: u64);
    /// It was acknowledged.
    fn acknowledged(&self, id: &str, length: u64);
}

/// Keeps `width` executions going until `commits` were made or the store fails. The new ones are called
/// after `round`.
pub(crate) async fn run(
    store: &Arc<SledStore>,
    listener: &Arc<impl Listener>,
    round: &str,
    width: usize,
    commits: u64,
) {
    let left = Arc::new(AtomicU64::new(commits));
    let names = Arc::new(AtomicU64::new(0));
    let mut claims = Vec::new();
    loop {
        let some = claim(store, width).await;
        if some.is_empty() {
            break;
        }
        claims.extend(some);
    }
    let mut tasks = tokio::task::JoinSet::new();
    for slot in 0..width.max(claims.len()) {
        let (store, listener) = (Arc::clone(store), Arc::clone(listener));
        let (left, names) = (Arc::clone(&left), Arc::clone(&names));
        let mut claimed = claims.pop();
        let round = round.to_owned();
        tasks.spawn(async move {
            loop {
                let claim = match claimed.take() {
                    Some(claim) => claim,
                    None => {
                        let name = names.fetch_add(1, Ordering::Relaxed);
                        let id = format!("{round}-{slot}-{name}");
                        listener.tried(&id, 1);
                        if store.create(execution(&id)).await.is_err() {
                            return;
                        }
                        listener.acknowledged(&id, 1);
                        // Somebody's, not always the one that was just made.
                        match claim(&store, 1).await.pop() {
                            Some(claim) => claim,
                            None => continue,
                        }
                    }
                };
                if !work(&store, &*listener, &claim, &left).await {
                    return;
                }
            }
        });
    }
    tasks.join_all().await;
}

async fn claim(store: &SledStore, limit: usize) -> Vec<Claim> {
    let request = ClaimRequest {
        worker: WorkerId::generate(),
        now: at(LENGTH + 1),
        until: Timestamp::MAX,
        limit,
        functions: Arc::from(["load".to_owned()]),
    };
    match store.claim(request).await {
        Ok(claimed) => {
            assert!(claimed.damaged.is_empty(), "{:?}", claimed.damaged);
            claimed.claims
        }
        Err(_) => Vec::new(),
    }
}

/// Takes an execution to its end. Says whether to go on.
async fn work(
    store: &SledStore,
    listener: &impl Listener,
    claim: &Claim,
    left: &AtomicU64,
) -> bool {
    let id = &claim.lease.execution;
    let Ok(history) = store.history(id, Sequence(0), usize::MAX).await else {
        return false;
    };
    let mut length = history.len() as u64;
    while length <= LENGTH {
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(1)
        });
        if taken.is_err() {
            // For whoever comes next.
            drop(store.release(vec![claim.lease.clone()]).await);
            return false;
        }
        // Sometimes two events at once, sometimes a change of the header, at the end both its kinds.
        let count = if length % 5 == 2 { 2 } else { 1 }.min(LENGTH + 1 - length);
        let after = length + count;
        let done = after > LENGTH;
        let header = (done || length % 4 == 3).then(|| HeaderChange {
            at: at(length),
            status: if done {
                Status::Completed
            } else {
                Status::Running
            },
            due: (!done).then(|| at(length)),
            problem: None,
        });
        let commit = Commit {
            lease: claim.lease.clone(),
            first: Sequence(length),
            events: (length..after)
                .map(|sequence| event(id.as_str(), sequence))
                .collect(),
            consumed: Vec::new(),
            header,
            release: done,
        };
        listener.tried(id.as_str(), after);
        if store.commit(commit).await.is_err() {
            return false;
        }
        length = after;
        listener.acknowledged(id.as_str(), length);
    }
    true
}

/// Reads everything back: the length of each history, whose events are the predicted ones.
pub(crate) async fn read_back(store: &SledStore) -> Result<Vec<(String, u64)>, String> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let query = Query {
            after,
            limit: 500,
            ..Query::default()
        };
        let page = store.list(query).await.map_err(|error| error.to_string())?;
        if !page.damaged.is_empty() {
            return Err(format!("damaged: {:?}", page.damaged));
        }
        for header in page.headers {
            let id = header.id.as_str();
            let events = store.history(&header.id, Sequence(0), usize::MAX).await;
            let events = events.map_err(|error| error.to_string())?;
            let length = events.len() as u64;
            let predicted = (0..length).map(|sequence| event(id, sequence));
            if !predicted.eq(events) {
                return Err(format!("{id}: its events are not those that were written"));
            }
            let done = length > LENGTH;
            if done != (header.status == Status::Completed) || done != header.due.is_none() {
                return Err(format!("{id}: {:?} with {length} events", header.status));
            }
            found.push((id.to_owned(), length));
        }
        after = page.next;
        if after.is_none() {
            return Ok(found);
        }
    }
}

/// Whether every execution that is not done can be claimed.
pub(crate) async fn all_claimable(
    store: &SledStore,
    found: &[(String, u64)],
) -> Result<(), String> {
    let open = found.iter().filter(|(_, length)| *length <= LENGTH).count();
    let claims = claim(store, usize::MAX).await;
    if claims.len() != open {
        return Err(format!(
            "{open} executions are open, {} can be claimed",
            claims.len()
        ));
    }
    for claim in claims {
        let id = claim.lease.execution.as_str();
        let Some((_, length)) = found.iter().find(|(name, _)| name == id) else {
            return Err(format!("{id}: claimed, but not listed"));
        };
        // A commit that says another length is refused.
        let nothing = Commit {
            lease: claim.lease.clone(),
            first: Sequence(*length),
            events: Vec::new(),
            consumed: Vec::new(),
            header: None,
            release: true,
        };
        store
            .commit(nothing)
            .await
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}
