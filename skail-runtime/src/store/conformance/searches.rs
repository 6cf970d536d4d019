//! Searches and counts.

use std::collections::BTreeSet;

use super::Subject;
use super::kit::*;
use crate::clock::Timestamp;
use crate::history::Status;
use crate::ids::{ExecutionId, Sequence};
use crate::store::{Commit, Count, Header, NewExecution, Place, Search, Store};

/// Everything that a search finds, in pages of `limit`.
async fn all(store: &impl Store, search: &Search, limit: usize) -> Vec<Header> {
    let mut found = Vec::new();
    let mut search = Search {
        limit,
        ..search.clone()
    };
    loop {
        let page = store.find(search.clone()).await.unwrap();
        assert!(page.headers.len() <= limit.max(1));
        found.extend(page.headers);
        let Some(next) = page.next else {
            return found;
        };
        // It has to survive a link.
        search.after = Some(next.to_string().parse::<Place>().unwrap());
    }
}

/// The names that a search finds, in their order, whatever the size of the pages.
async fn found(store: &impl Store, search: Search) -> String {
    let whole = all(store, &search, 1_000).await;
    for limit in [0, 1, 2, 3] {
        assert_eq!(all(store, &search, limit).await, whole, "{search:?}");
    }
    assert!(whole.iter().all(|header| search.matches(header)));
    whole.iter().map(|header| header.id.to_string()).collect()
}

/// Names and values.
type Tags = &'static [(&'static str, &'static str)];

fn started(name: &str, function: &str, created: i64, tags: Tags) -> NewExecution {
    let mut new = new(name, function, 1);
    new.header.created_at = at(created);
    let tags = tags
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    new.header.tags = tags.collect();
    new
}

fn with_status(status: Status) -> Search {
    Search {
        status: Some(status),
        ..Search::default()
    }
}

fn of_function(function: &str) -> Search {
    Search {
        function: Some(function.to_owned()),
        ..Search::default()
    }
}

fn with_tag(name: &str, value: &str) -> Search {
    Search {
        tag: Some((name.to_owned(), value.to_owned())),
        ..Search::default()
    }
}

async fn counted(store: &impl Store) -> Vec<String> {
    let counts = store.counts().await.unwrap();
    let mut counts: Vec<_> = counts
        .into_iter()
        .map(
            |Count {
                 function,
                 status,
                 executions,
             }| format!("{function} {status} {executions}"),
        )
        .collect();
    counts.sort_unstable();
    counts
}

/// Brings a leased execution to rest.
async fn rest(store: &impl Store, name: &str, status: Status, problem: Option<&str>) {
    let page = store
        .claim(request(5, 100, 100, &["f", "g"]))
        .await
        .unwrap();
    let mut others = Vec::new();
    for claim in page.claims {
        if claim.lease.execution.as_str() != name {
            others.push(claim.lease);
            continue;
        }
        let length = history(store, name).await.len() as u64;
        let mut change = change(status, None);
        change.problem = problem.map(str::to_owned);
        let commit = Commit {
            header: Some(change),
            release: true,
            ..commit(&claim.lease, length, vec![step(1, 5)])
        };
        store.commit(commit).await.unwrap();
    }
    store.release(others).await.unwrap();
}

pub(super) async fn what_is_looked_for_is_found_newest_first<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    assert_eq!(found(&store, Search::default()).await, "");
    assert_eq!(counted(&store).await, Vec::<String>::new());
    let starts: [(&str, &str, i64, Tags); 6] = [
        ("d", "f", 40, &[("customer", "17")]),
        ("a", "g", 10, &[("customer", "18"), ("country", "NL")]),
        ("f", "g", 60, &[("customer", "17")]),
        ("c", "f", 30, &[]),
        ("b", "f", -20, &[("customer", "17"), ("country", "NL")]),
        ("e", "f", 50, &[("country", "17")]),
    ];
    for (name, function, created, tags) in starts {
        create(&store, started(name, function, created, tags)).await;
    }
    rest(&store, "c", Status::Failed, Some("The Gateway said 503")).await;
    rest(&store, "f", Status::Failed, Some("out of stock")).await;
    rest(&store, "a", Status::Blocked, Some("at position 3")).await;
    rest(&store, "e", Status::Completed, None).await;
    let mut store = store;
    for reopened in [false, true] {
        if reopened {
            store = subject.reopen(store).await;
        }
        assert_eq!(found(&store, Search::default()).await, "fedcab");
        assert_eq!(found(&store, with_status(Status::Running)).await, "db");
        assert_eq!(found(&store, with_status(Status::Failed)).await, "fc");
        assert_eq!(found(&store, with_status(Status::Blocked)).await, "a");
        assert_eq!(found(&store, of_function("f")).await, "edcb");
        assert_eq!(found(&store, of_function("h")).await, "");
        assert_eq!(found(&store, with_tag("customer", "17")).await, "fdb");
        assert_eq!(found(&store, with_tag("country", "NL")).await, "ab");
        // What is written together is not what is meant.
        assert_eq!(found(&store, with_tag("customer1", "7")).await, "");
        let both = Search {
            function: Some("g".to_owned()),
            ..with_status(Status::Failed)
        };
        assert_eq!(found(&store, both).await, "f");
        let tagged = Search {
            status: Some(Status::Running),
            ..with_tag("country", "NL")
        };
        assert_eq!(found(&store, tagged).await, "b");
        let between = |from: i64, before: i64| Search {
            started_from: Some(at(from)),
            started_before: Some(at(before)),
            ..Search::default()
        };
        assert_eq!(found(&store, between(10, 50)).await, "dca");
        assert_eq!(found(&store, between(-20, -19)).await, "b");
        assert_eq!(found(&store, between(31, 40)).await, "");
        assert_eq!(found(&store, between(50, 10)).await, "");
        let words = |text: &str| Search {
            text: Some(text.to_owned()),
            ..Search::default()
        };
        assert_eq!(found(&store, words("gateway")).await, "c");
        assert_eq!(found(&store, words("SAID 5")).await, "c");
        assert_eq!(found(&store, words("nl")).await, "ab");
        assert_eq!(
            counted(&store).await,
            [
                "f completed 1",
                "f failed 1",
                "f running 2",
                "g blocked 1",
                "g failed 1"
            ]
        );
    }
    // What is resumed or deleted changes its lists.
    store.send(&id("c"), resume(), at(2)).await.unwrap();
    rest(&store, "c", Status::Completed, None).await;
    assert_eq!(store.delete(vec![id("e"), id("a")]).await.unwrap(), 2);
    assert_eq!(found(&store, Search::default()).await, "fdcb");
    assert_eq!(found(&store, with_status(Status::Completed)).await, "c");
    assert_eq!(found(&store, with_tag("country", "NL")).await, "b");
    assert_eq!(
        counted(&store).await,
        ["f completed 1", "f running 2", "g failed 1"]
    );
    // An id that is used again is another execution.
    create(&store, started("a", "f", 5, &[])).await;
    assert_eq!(found(&store, with_tag("customer", "18")).await, "");
    assert_eq!(found(&store, Search::default()).await, "fdcab");
}

pub(super) async fn a_search_by_prefix_is_in_the_order_of_ids<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    for name in [
        "order-2", "order-10", "order", "orders", "ordf", "or", "order-1", "z", "ordér",
    ] {
        create(
            &store,
            new(name, if name == "order-1" { "g" } else { "f" }, 1),
        )
        .await;
    }
    let prefix = |prefix: &str| Search {
        prefix: Some(prefix.to_owned()),
        ..Search::default()
    };
    assert_eq!(
        found(&store, prefix("order-")).await,
        "order-1order-10order-2"
    );
    assert_eq!(
        found(&store, prefix("orde")).await,
        "orderorder-1order-10order-2orders"
    );
    assert_eq!(found(&store, prefix("zz")).await, "");
    let function = Search {
        function: Some("f".to_owned()),
        ..prefix("order-1")
    };
    assert_eq!(found(&store, function).await, "order-10");
    assert_eq!(all(&store, &prefix(""), 4).await.len(), 9);
}

pub(super) async fn a_damaged_execution_hides_no_other<S: Subject>(subject: &S) {
    let mut store = subject.fresh().await;
    for (name, created) in [("a", 1), ("b", 2), ("c", 3)] {
        create(&store, started(name, "f", created, &[])).await;
    }
    store = subject.damage(store, &id("b")).await;
    let page = |page: crate::store::Found| {
        let names: String = page
            .headers
            .iter()
            .map(|header| header.id.to_string())
            .collect();
        (names, page.damaged)
    };
    let running = Search {
        limit: 10,
        ..with_status(Status::Running)
    };
    let seen = page(store.find(running.clone()).await.unwrap());
    assert_eq!(seen, ("ca".to_owned(), vec![id("b")]));
    assert_eq!(store.delete(vec![id("b")]).await.unwrap(), 1);
    let seen = page(store.find(running).await.unwrap());
    assert_eq!(seen, ("ca".to_owned(), vec![]));
    assert_eq!(counted(&store).await, ["f running 2"]);
}

/// Finds all pages while statuses change: nobody is met twice, and who stays is met.
pub(super) async fn pages_stay_while_executions_move<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    for n in 0..40 {
        create(&store, started(&format!("{n:02}"), "f", n, &[])).await;
    }
    let mut search = Search {
        limit: 3,
        ..Search::default()
    };
    let mut seen = Vec::new();
    for n in (0..40).rev() {
        let page = store.find(search.clone()).await.unwrap();
        seen.extend(page.headers.into_iter().map(|header| header.id));
        rest(&store, &format!("{n:02}"), Status::Failed, None).await;
        search.after = page.next;
        if search.after.is_none() {
            break;
        }
    }
    let distinct: BTreeSet<&ExecutionId> = seen.iter().collect();
    assert_eq!((seen.len(), distinct.len()), (40, 40));
    assert!(seen.is_sorted_by(|newer, older| newer > older));
}

/// The searches that random walks compare with the memory store.
pub(super) async fn both_find_the_same(theirs: &impl Store, ours: &impl Store) {
    let between = Search {
        started_from: Some(at(0)),
        started_before: Some(Timestamp::MAX),
        ..Search::default()
    };
    let prefix = Search {
        prefix: Some("1".to_owned()),
        ..Search::default()
    };
    let both = Search {
        function: Some("f".to_owned()),
        ..with_status(Status::Failed)
    };
    let searches = [
        Search::default(),
        with_status(Status::Running),
        with_status(Status::Completed),
        of_function("g"),
        with_tag("customer", "17"),
        between,
        prefix,
        both,
    ];
    for search in searches {
        assert_eq!(
            all(theirs, &search, 3).await,
            all(ours, &search, 100).await,
            "{search:?}"
        );
    }
    assert_eq!(counted(theirs).await, counted(ours).await);
}

/// A history is none of a search's business, however long it is.
pub(super) async fn steps_change_no_list<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    create(&store, new("a", "f", 1)).await;
    let lease = claim_one(&store, 1, 100).await.lease;
    let before = all(&store, &Search::default(), 1).await;
    for length in 1..50 {
        store
            .commit(commit(&lease, length, vec![step(1, 500)]))
            .await
            .unwrap();
    }
    assert_eq!(all(&store, &Search::default(), 1).await, before);
    assert_eq!(counted(&store).await, ["f running 1"]);
    assert_eq!(
        store
            .history(&id("a"), Sequence(0), 100)
            .await
            .unwrap()
            .len(),
        50
    );
}
