//! Lists, deletions, damage.

use std::sync::Arc;

use super::Subject;
use super::kit::*;
use crate::history::Status;
use crate::ids::{ExecutionId, Sequence};
use crate::store::{Created, Query, Sent, Store, StoreError};

/// Every id that a query finds, in pages of `limit`.
async fn all(store: &impl Store, query: Query, limit: usize) -> Vec<ExecutionId> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let query = Query {
            after,
            limit,
            ..query.clone()
        };
        let page = store.list(query).await.unwrap();
        assert!(page.headers.len() + page.damaged.len() <= limit.max(1));
        found.extend(page.headers.into_iter().map(|header| header.id));
        after = page.next;
        if after.is_none() {
            return found;
        }
    }
}

pub(super) async fn a_list_is_in_order_and_filtered<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    assert_eq!(all(&store, Query::default(), 10).await, []);
    for n in [5, 3, 9, 1, 7, 0, 8, 2, 6, 4] {
        create(&store, new(format!("{n}"), ["f", "g"][n % 2], 1)).await;
    }
    for claim in claim(&store, 1, 100, 2).await {
        store
            .commit(leave(
                &claim.lease,
                1,
                vec![step(0, 1)],
                Status::Failed,
                None,
            ))
            .await
            .unwrap();
    }
    let names = |ids: &[ExecutionId]| ids.iter().map(ToString::to_string).collect::<String>();
    for limit in [0, 1, 2, 3, 10, 11] {
        assert_eq!(
            names(&all(&store, Query::default(), limit).await),
            "0123456789"
        );
        let failed = Query {
            status: Some(Status::Failed),
            ..Query::default()
        };
        assert_eq!(all(&store, failed, limit).await.len(), 2);
        let function = Query {
            function: Some("g".to_owned()),
            ..Query::default()
        };
        assert_eq!(names(&all(&store, function, limit).await), "13579");
        let both = Query {
            status: Some(Status::Failed),
            function: Some("g".to_owned()),
            ..Query::default()
        };
        assert_eq!(all(&store, both, limit).await, []);
    }
    let page = store
        .list(Query {
            after: Some(id("5")),
            limit: 2,
            ..Query::default()
        })
        .await
        .unwrap();
    assert_eq!(page.headers.len(), 2);
    assert_eq!(page.headers[0], header(&store, "6").await);
    assert_eq!(page.next, Some(id("7")));
}

pub(super) async fn every_header_is_listed_once<S: Subject>(subject: &S, headers: usize) {
    let store = Arc::new(subject.fresh().await);
    let creators = (0..64).map(|creator| {
        let store = Arc::clone(&store);
        async move {
            for n in (creator..headers).step_by(64) {
                // Half of them sleep, and must cost a claim nothing.
                let due = if n % 2 == 0 { 1 } else { 1_000_000 };
                let function = if n % 1_000 == 17 { "rare" } else { "common" };
                create(&*store, new(format!("order-{n}"), function, due)).await;
            }
        }
    });
    together(creators).await;
    for limit in [headers / 7 + 1, 999] {
        let found = all(&*store, Query::default(), limit).await;
        assert_eq!(found.len(), headers);
        assert!(found.is_sorted_by(|one, other| one < other));
    }
    let rare = Query {
        function: Some("rare".to_owned()),
        ..Query::default()
    };
    assert_eq!(all(&*store, rare, 100).await.len(), (headers + 982) / 1_000);
    let claimed = store.claim(request(1, 10, 100, &["rare"])).await.unwrap();
    assert_eq!(claimed.claims.len(), 0);
    let claimed = store
        .claim(request(1_000_000, 1_000_001, 10, &["rare"]))
        .await
        .unwrap();
    assert_eq!(claimed.claims.len(), ((headers + 982) / 1_000).min(10));
    let store = Arc::into_inner(store).expect("the creators are through");
    let store = subject.reopen(store).await;
    let found = all(&store, Query::default(), 5_000).await;
    assert_eq!(found.len(), headers);
    let claimed = store.claim(request(1, 10, 100, &["common"])).await.unwrap();
    assert_eq!(claimed.claims.len(), 100);
}

pub(super) async fn deleted_executions_are_gone_and_their_ids_free<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    for round in 0..3 {
        let first = new("a", "f", 1);
        assert_eq!(store.create(first.clone()).await.unwrap(), Created::New);
        assert_eq!(history(&store, "a").await, [first.first]);
        assert_eq!(inbox(&store, "a").await, []);
        let lease = claim_one(&store, 1, 100).await.lease;
        store
            .commit(commit(&lease, 1, vec![step(0, 10_000)]))
            .await
            .unwrap();
        // Mail that was left over, and a due time, must not be found any more either.
        store.send(&id("a"), resume(), at(2)).await.unwrap();
        let ending = leave(&lease, 2, vec![step(1, 1)], Status::Completed, Some(7));
        store.commit(ending).await.unwrap();
        let ids = vec![id("nobody"), id("a"), id("a")];
        assert_eq!(store.delete(ids).await.unwrap(), 1, "round {round}");
        assert_eq!(store.header(&id("a")).await.unwrap(), None);
        assert_eq!(history(&store, "a").await, []);
        assert_eq!(inbox(&store, "a").await, []);
        assert_eq!(
            store.send(&id("a"), resume(), at(2)).await.unwrap(),
            Sent::Unknown
        );
        assert_eq!(all(&store, Query::default(), 10).await, []);
        assert!(claim(&store, 1_000, 2_000, 9).await.is_empty());
        let late = store.commit(commit(&lease, 3, vec![])).await;
        assert!(matches!(late, Err(StoreError::Fenced { .. })), "{late:?}");
    }
    let store = subject.reopen(store).await;
    assert_eq!(all(&store, Query::default(), 10).await, []);
    assert!(claim(&store, 1_000, 2_000, 9).await.is_empty());
}

pub(super) async fn only_what_is_at_rest_is_deleted<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    for name in ["a", "b", "c"] {
        create(&store, new(name, "f", 1)).await;
    }
    let ids = || vec![id("a"), id("b"), id("c")];
    assert_eq!(store.delete(ids()).await.unwrap(), 0);
    let claims = claim(&store, 1, 100, 2).await;
    assert_eq!(store.delete(ids()).await.unwrap(), 0);
    let mut failing = commit(&claims[0].lease, 1, vec![step(0, 1)]);
    failing.header = Some(change(Status::Failed, None));
    store.commit(failing).await.unwrap();
    // At rest, but leased.
    assert_eq!(store.delete(ids()).await.unwrap(), 0);
    store.release(vec![claims[0].lease.clone()]).await.unwrap();
    assert_eq!(store.delete(ids()).await.unwrap(), 1);
    store
        .commit(commit(&claims[1].lease, 1, vec![step(0, 1)]))
        .await
        .unwrap();
    assert_eq!(all(&store, Query::default(), 10).await.len(), 2);
    // A lease that ended, of an execution at rest, holds nothing up once it is voided.
    let mut failing = commit(&claims[1].lease, 2, vec![]);
    failing.header = Some(change(Status::Blocked, None));
    store.commit(failing).await.unwrap();
    assert_eq!(names(&claim(&store, 100, 200, 9).await).len(), 1);
    assert_eq!(store.delete(ids()).await.unwrap(), 1);
}

pub(super) async fn what_was_resumed_is_not_deleted<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    for status in [Status::Failed, Status::Blocked] {
        create(&store, new("a", "f", 1)).await;
        let lease = claim_one(&store, 1, 100).await.lease;
        let mut resting = commit(&lease, 1, vec![]);
        resting.header = Some(change(status, None));
        resting.release = true;
        store.commit(resting).await.unwrap();
        let sent = store.send(&id("a"), resume(), at(50)).await.unwrap();
        assert!(matches!(sent, Sent::Delivered(_)), "{sent:?}");
        assert_eq!(store.delete(vec![id("a")]).await.unwrap(), 0);
        // Nor once it is claimed; but when it rests again.
        let lease = claim_one(&store, 200, 300).await.lease;
        assert_eq!(store.delete(vec![id("a")]).await.unwrap(), 0);
        let (message, _) = store.inbox(&id("a"), 1).await.unwrap().remove(0);
        let mut resting = commit(&lease, 1, vec![]);
        resting.header = Some(change(status, None));
        resting.consumed = vec![message];
        resting.release = true;
        store.commit(resting).await.unwrap();
        assert_eq!(store.delete(vec![id("a")]).await.unwrap(), 1);
    }
}

pub(super) async fn a_long_history_is_deleted_whole<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    create(&store, new("long", "f", 1)).await;
    let lease = claim_one(&store, 1, 100).await.lease;
    for length in 1..3_000 {
        store
            .commit(commit(&lease, length, vec![step(1, 1)]))
            .await
            .unwrap();
    }
    store
        .commit(commit(&lease, 3_000, vec![step(1, 8_000_000)]))
        .await
        .unwrap();
    store
        .commit(leave(&lease, 3_001, vec![], Status::Failed, None))
        .await
        .unwrap();
    assert_eq!(store.delete(vec![id("long")]).await.unwrap(), 1);
    // It is gone at once, whatever goes on behind it, also in a crash.
    assert_eq!(history(&store, "long").await, []);
    let store = subject.reopen(store).await;
    create(&store, new("long", "f", 1)).await;
    assert_eq!(history(&store, "long").await.len(), 1);
    let lease = claim_one(&store, 1, 100).await.lease;
    store
        .commit(commit(&lease, 1, vec![step(5, 5)]))
        .await
        .unwrap();
    assert_eq!(history(&store, "long").await[1..], [step(5, 5)]);
}

pub(super) async fn a_damaged_execution_is_named_and_stops_nobody<S: Subject>(subject: &S) {
    let mut store = subject.fresh().await;
    for name in ["a", "b", "c"] {
        create(&store, new(name, "f", 1)).await;
    }
    store = subject.damage(store, &id("b")).await;
    let named = |error: StoreError| match error {
        StoreError::Damaged { execution, .. } => assert_eq!(execution, id("b")),
        other => panic!("{other:?}"),
    };
    named(store.header(&id("b")).await.unwrap_err());
    named(store.history(&id("b"), Sequence(0), 10).await.unwrap_err());
    named(store.last_event(&id("b")).await.unwrap_err());
    named(store.create(new("b", "f", 1)).await.unwrap_err());
    named(store.send(&id("b"), resume(), at(1)).await.unwrap_err());
    let page = store
        .list(Query {
            limit: 10,
            ..Query::default()
        })
        .await
        .unwrap();
    assert_eq!((page.headers.len(), page.damaged), (2, vec![id("b")]));
    let mut claimed = store.claim(request(1, 100, 9, &["f"])).await.unwrap();
    assert_eq!(claimed.damaged.len(), 1);
    named(claimed.damaged.pop().unwrap());
    assert_eq!(claimed.claims.len(), 2);
    for claim in &claimed.claims {
        store
            .commit(commit(&claim.lease, 1, vec![step(0, 1)]))
            .await
            .unwrap();
    }
    // Reported once, then passed over; and it can be got rid of.
    let claimed = store.claim(request(500, 1_000, 9, &["f"])).await.unwrap();
    assert_eq!((claimed.claims.len(), claimed.damaged.len()), (2, 0));
    assert_eq!(store.delete(vec![id("b")]).await.unwrap(), 1);
    assert_eq!(store.header(&id("b")).await.unwrap(), None);
    assert_eq!(store.create(new("b", "f", 1)).await.unwrap(), Created::New);
    assert_eq!(history(&store, "b").await.len(), 1);
}
