//! Creating executions.

use std::sync::Arc;

use super::Subject;
use super::kit::*;
use crate::codec::Payload;
use crate::history::Event;
use crate::ids::Sequence;
use crate::store::{Created, Store};

pub(super) async fn a_created_execution_can_be_read<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    assert_eq!(store.header(&id("a")).await.unwrap(), None);
    assert_eq!(history(&store, "a").await, []);
    let new = new("a", "f", 5);
    create(&store, new.clone()).await;
    assert_eq!(header(&store, "a").await, new.header);
    assert_eq!(history(&store, "a").await, [new.first]);
    assert_eq!(store.header(&id("b")).await.unwrap(), None);
}

pub(super) async fn a_second_create_writes_nothing_and_returns_what_stands<S: Subject>(
    subject: &S,
) {
    let store = subject.fresh().await;
    let first = new("a", "f", 5);
    create(&store, first.clone()).await;
    let other = new_with("a", "another", 1, &Payload::encode(&"else").unwrap());
    for new in [first.clone(), other] {
        let created = store.create(new).await.unwrap();
        assert_eq!(created, Created::Exists(first.header.clone()));
    }
    assert_eq!(header(&store, "a").await, first.header);
    assert_eq!(history(&store, "a").await, [first.first]);
    assert_eq!(names(&claim(&store, 4, 100, 9).await), Vec::<&str>::new());

    // While it is leased, and when it is done, the same holds.
    let lease = claim_one(&store, 5, 100).await.lease;
    assert!(matches!(
        store.create(new("a", "f", 5)).await.unwrap(),
        Created::Exists(_)
    ));
    let status = crate::history::Status::Completed;
    store
        .commit(leave(&lease, 1, vec![completed()], status, None))
        .await
        .unwrap();
    match store.create(new("a", "f", 5)).await.unwrap() {
        Created::Exists(header) => assert_eq!(header.status, status),
        Created::New => panic!("an execution that is done was created again"),
    }
}

pub(super) async fn eight_parallel_creates_make_one_execution<S: Subject>(subject: &S) {
    let store = Arc::new(subject.fresh().await);
    for round in 0..20 {
        let name = format!("order-{round}");
        let creates = (0..8).map(|n| {
            let (store, name) = (Arc::clone(&store), name.clone());
            async move { store.create(new(name, "f", n)).await.unwrap() }
        });
        let created = together(creates).await;
        let new = created
            .iter()
            .filter(|created| **created == Created::New)
            .count();
        assert_eq!(new, 1, "{created:?}");
        let stands = header(&*store, &name).await;
        for created in created {
            assert!(created == Created::New || created == Created::Exists(stands.clone()));
        }
    }
    assert_eq!(claim(&*store, 10, 100, 99).await.len(), 20);
}

pub(super) async fn ids_and_names_of_every_shape_are_kept<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    let longest = "x".repeat(crate::ids::MAX_ID_BYTES);
    let names = [
        "a",
        "a/0",
        "a/1",
        "ä",
        "日本",
        " ",
        "a b",
        "%",
        "'; --",
        &longest,
        "\u{1f600}",
    ];
    let function = "a very long function's name ".repeat(400);
    for name in names {
        let mut new = new(name, &function, 5);
        new.header.tags = (0..50).map(|n| (format!("tag {n}"), filler(200))).collect();
        create(&store, new.clone()).await;
        assert_eq!(header(&store, name).await, new.header);
    }
    let store = subject.reopen(store).await;
    for name in names {
        assert_eq!(history(&store, name).await.len(), 1);
    }
    let claimed = store
        .claim(request(5, 100, 99, &[&function]))
        .await
        .unwrap();
    assert_eq!(claimed.claims.len(), names.len());
}

pub(super) async fn events_of_every_size_come_back<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    let sizes = [
        0, 100, 700, 1_000, 1_100, 3_800, 4_000, 4_096, 4_200, 9_000, 70_000, 3_000_000,
    ];
    for size in sizes {
        let name = format!("size {size}");
        let new = new_with(&name, "f", 1, &Payload::encode(&filler(size)).unwrap());
        create(&store, new.clone()).await;
        let lease = claim_one(&store, 1, 100).await.lease;
        // Alone, with others, and with a change of the header.
        let mut expected = vec![new.first, step(1, size), step(2, size), step(3, 10)];
        store
            .commit(commit(&lease, 1, vec![expected[1].clone()]))
            .await
            .unwrap();
        store
            .commit(commit(&lease, 2, expected[2..].to_vec()))
            .await
            .unwrap();
        let last = Event::Completed {
            at: at(9),
            result: Payload::encode(&filler(size)).unwrap(),
        };
        expected.push(last.clone());
        let status = crate::history::Status::Completed;
        store
            .commit(leave(&lease, 4, vec![last], status, None))
            .await
            .unwrap();
        assert!(history(&store, &name).await == expected, "{name}");
    }
    let store = subject.reopen(store).await;
    for size in sizes {
        let events = store
            .history(&id(format!("size {size}")), Sequence(2), 2)
            .await
            .unwrap();
        assert!(events == [step(2, size), step(3, 10)], "{size}");
    }
}
