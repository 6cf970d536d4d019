//! Crashes, closes, and news.

use std::time::Duration;

use super::Subject;
use super::kit::*;
use crate::history::Status;
use crate::ids::Sequence;
use crate::store::{Change, Created, Query, Sent, Store, StoreError};

pub(super) async fn a_closed_store_refuses_everything<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    create(&store, new("a", "f", 1)).await;
    let lease = claim_one(&store, 1, 100).await.lease;
    store.close().await.unwrap();
    store.close().await.unwrap();
    let closed = [
        store.create(new("b", "f", 1)).await.unwrap_err(),
        store.header(&id("a")).await.unwrap_err(),
        store.history(&id("a"), Sequence(0), 1).await.unwrap_err(),
        store.claim(request(1, 100, 1, &["f"])).await.unwrap_err(),
        store.renew(vec![lease.clone()], at(200)).await.unwrap_err(),
        store.release(vec![lease.clone()]).await.unwrap_err(),
        store
            .commit(commit(&lease, 1, vec![step(0, 1)]))
            .await
            .unwrap_err(),
        store.send(&id("a"), resume(), at(1)).await.unwrap_err(),
        store.last_event(&id("a")).await.unwrap_err(),
        store.inbox(&id("a"), 1).await.unwrap_err(),
        store.next_due(at(1)).await.unwrap_err(),
        store.list(Query::default()).await.unwrap_err(),
        store.delete(vec![id("a")]).await.unwrap_err(),
    ];
    for error in closed {
        assert!(matches!(error, StoreError::Closed), "{error:?}");
    }
}

/// Executions in every state, and what has to be there of them.
async fn everything<S: Subject>(subject: &S, close: bool) {
    let store = subject.fresh().await;
    for (name, due) in [
        ("created", 5),
        ("asleep", 90),
        ("leased", 1),
        ("failed", 2),
        ("done", 3),
    ] {
        create(&store, new(name, "f", due)).await;
    }
    let claims = claim(&store, 3, 1_000, 9).await;
    assert_eq!(names(&claims), ["leased", "failed", "done"]);
    let [leased, failed, done] = [0, 1, 2].map(|n| claims[n].lease.clone());
    store
        .commit(commit(&leased, 1, vec![step(0, 20_000)]))
        .await
        .unwrap();
    store
        .commit(leave(&failed, 1, vec![step(0, 7)], Status::Failed, None))
        .await
        .unwrap();
    store
        .commit(commit(&done, 1, vec![step(0, 1)]))
        .await
        .unwrap();
    store
        .commit(leave(&done, 2, vec![completed()], Status::Completed, None))
        .await
        .unwrap();
    store.send(&id("failed"), resume(), at(4)).await.unwrap();
    store.send(&id("asleep"), resume(), at(4)).await.unwrap();
    let mut before = Vec::new();
    for name in ["created", "asleep", "leased", "failed", "done"] {
        let events = history(&store, name).await;
        before.push((
            name,
            header(&store, name).await,
            events,
            inbox(&store, name).await,
        ));
    }
    if close {
        store.close().await.unwrap();
    }
    let store = subject.reopen(store).await;
    for (name, header_before, events, mail) in before {
        assert_eq!(header(&store, name).await, header_before);
        assert!(history(&store, name).await == events, "{name}");
        assert_eq!(inbox(&store, name).await, mail);
    }
    let late = store.commit(commit(&leased, 2, vec![step(0, 1)])).await;
    assert!(matches!(late, Err(StoreError::Fenced { .. })), "{late:?}");
    let claims = claim(&store, 5, 1_000, 9).await;
    assert_eq!(names(&claims), ["leased", "failed", "created"]);
    let suspects: Vec<bool> = claims.iter().map(|claim| claim.suspect).collect();
    assert_eq!(suspects, [!close, false, !close]);
    assert_eq!(
        claims.iter().map(|claim| claim.mail).collect::<Vec<_>>(),
        [false, true, false]
    );
    assert_eq!(store.next_due(at(5)).await.unwrap(), Some(at(90)));
    for (claim, length) in claims.iter().zip([2, 2, 1]) {
        assert!(claim.lease.epoch > leased.epoch.max(failed.epoch).max(done.epoch));
        store
            .commit(commit(&claim.lease, length, vec![step(1, 1)]))
            .await
            .unwrap();
    }
    assert!(matches!(
        store.create(new("done", "f", 1)).await.unwrap(),
        Created::Exists(_)
    ));
}

pub(super) async fn everything_is_there_after_a_crash<S: Subject>(subject: &S) {
    everything(subject, false).await;
}

pub(super) async fn everything_is_there_after_a_close<S: Subject>(subject: &S) {
    everything(subject, true).await;
}

pub(super) async fn epochs_and_messages_grow_across_openings<S: Subject>(subject: &S) {
    let mut store = subject.fresh().await;
    create(&store, new("a", "f", 1)).await;
    let mut last = None;
    for round in 0..6 {
        let claim = claim_one(&store, 1, 100).await;
        let Sent::Delivered(message) = store.send(&id("a"), resume(), at(1)).await.unwrap() else {
            panic!("there is such an execution");
        };
        let now = Some((claim.lease.epoch, message));
        assert!(
            now.map(|now| now.0) > last.map(|(epoch, _)| epoch),
            "round {round}"
        );
        assert!(
            now.map(|now| now.1) > last.map(|(_, message)| message),
            "round {round}"
        );
        last = now;
        if round % 2 == 0 {
            store.close().await.unwrap();
        }
        store = subject.reopen(store).await;
    }
    assert_eq!(inbox(&store, "a").await.len(), 6);
}

pub(super) async fn changes_are_told<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    let mut changes = store.changes();
    let mut heard = async |wanted: Change| {
        let hearing = async {
            loop {
                match changes.next().await {
                    Some(change) if change == wanted || change == Change::Missed => return,
                    Some(_) => {}
                    None => panic!("the store went silent"),
                }
            }
        };
        let heard = tokio::time::timeout(Duration::from_secs(20), hearing).await;
        assert!(heard.is_ok(), "not heard of: {wanted:?}");
    };
    create(&store, new("a", "f", 1)).await;
    heard(Change::Claimable).await;
    let lease = claim_one(&store, 1, 100).await.lease;
    store.release(vec![lease]).await.unwrap();
    heard(Change::Claimable).await;
    let lease = claim_one(&store, 1, 100).await.lease;
    store
        .commit(leave(&lease, 1, vec![], Status::Running, Some(9)))
        .await
        .unwrap();
    heard(Change::Claimable).await;
    let lease = claim_one(&store, 9, 100).await.lease;
    store
        .commit(leave(&lease, 1, vec![step(0, 1)], Status::Failed, None))
        .await
        .unwrap();
    heard(Change::AtRest(id("a"), Status::Failed)).await;
    store.send(&id("a"), resume(), at(10)).await.unwrap();
    heard(Change::Mail(id("a"))).await;
    heard(Change::Claimable).await;
}
