//! Commits: atomic, fenced, in order.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use super::Subject;
use super::kit::*;
use crate::history::Status;
use crate::ids::{Epoch, Sequence};
use crate::store::{Commit, Lease, Store, StoreError};

pub(super) async fn a_history_is_in_order_and_comes_in_pages<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    let first = new("a", "f", 1);
    create(&store, first.clone()).await;
    create(&store, new("a/1", "g", 1)).await;
    let lease = claim_one(&store, 1, 100).await.lease;
    let mut expected = vec![first.first];
    let mut random = fastrand::Rng::with_seed(1);
    while expected.len() < 700 {
        let length = expected.len() as u32;
        let events: Vec<_> = (0..random.u32(1..6))
            .map(|n| step(length + n, 20))
            .collect();
        store
            .commit(commit(&lease, u64::from(length), events.clone()))
            .await
            .unwrap();
        expected.extend(events);
    }
    for limit in [1, 2, 7, 256, 10_000] {
        for from in [
            0,
            1,
            2,
            3,
            350,
            699,
            expected.len() - 1,
            expected.len(),
            100_000,
        ] {
            let page = store
                .history(&id("a"), Sequence(from as u64), limit)
                .await
                .unwrap();
            let rest = expected.iter().skip(from).take(limit);
            assert!(page.iter().eq(rest), "from {from}, limit {limit}");
        }
    }
    assert_eq!(history(&store, "a/1").await.len(), 1);
}

pub(super) async fn a_commit_changes_everything_at_once<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    let first = new("a", "f", 1);
    create(&store, first.clone()).await;
    let lease = claim_one(&store, 1, 100).await.lease;
    store.send(&id("a"), resume(), at(2)).await.unwrap();
    store.send(&id("a"), resume(), at(3)).await.unwrap();
    let mail = inbox(&store, "a").await;
    let change = change(Status::Failed, None);
    let all = Commit {
        lease: lease.clone(),
        first: Sequence(1),
        events: vec![step(0, 10), step(1, 10)],
        consumed: mail.clone(),
        header: Some(change.clone()),
        release: true,
    };
    store.commit(all).await.unwrap();
    assert_eq!(
        history(&store, "a").await,
        [first.first.clone(), step(0, 10), step(1, 10)]
    );
    assert_eq!(inbox(&store, "a").await, []);
    let header = header(&store, "a").await;
    assert_eq!((header.status, header.due), (Status::Failed, None));
    assert_eq!(
        (header.updated_at, header.problem),
        (change.at, change.problem)
    );
    assert_eq!(
        (header.created_at, header.tags),
        (first.header.created_at, first.header.tags)
    );
    let late = store.commit(commit(&lease, 3, vec![step(3, 1)])).await;
    assert!(matches!(late, Err(StoreError::Fenced { .. })), "{late:?}");
    assert!(claim(&store, 1_000, 2_000, 9).await.is_empty());
}

pub(super) async fn a_commit_of_many_events_is_paged_in_the_middle<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    create(&store, new("a", "f", 1)).await;
    let lease = claim_one(&store, 1, 100).await.lease;
    let events: Vec<_> = (0..50).map(|n| step(n, 10)).collect();
    // With a change of the header and without one.
    let mut with_header = commit(&lease, 1, events.clone());
    with_header.header = Some(change(Status::Running, Some(1)));
    store.commit(with_header).await.unwrap();
    store
        .commit(commit(&lease, 51, events.clone()))
        .await
        .unwrap();
    for from in 1..100 {
        let page = store.history(&id("a"), Sequence(from), 3).await.unwrap();
        let twice = events.iter().chain(&events);
        assert!(
            page.iter().eq(twice.skip(from as usize - 1).take(3)),
            "from {from}"
        );
    }
}

pub(super) async fn a_commit_that_leaves_a_gap_is_refused_and_changes_nothing<S: Subject>(
    subject: &S,
) {
    let store = subject.fresh().await;
    create(&store, new("a", "f", 1)).await;
    let lease = claim_one(&store, 1, 100).await.lease;
    store
        .commit(commit(&lease, 1, vec![step(0, 1)]))
        .await
        .unwrap();
    for first in [0, 1, 3, 4, u64::MAX] {
        for events in [vec![], vec![step(1, 1)]] {
            let refused = store
                .commit(leave(&lease, first, events, Status::Failed, None))
                .await;
            assert!(
                matches!(refused, Err(StoreError::Contradiction { .. })),
                "{refused:?}"
            );
        }
    }
    assert_eq!(history(&store, "a").await.len(), 2);
    assert_eq!(header(&store, "a").await.status, Status::Running);
    store.commit(commit(&lease, 2, vec![])).await.unwrap();
    store
        .commit(commit(&lease, 2, vec![step(1, 1)]))
        .await
        .unwrap();
}

pub(super) async fn a_stale_lease_is_fenced<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    create(&store, new("a", "f", 1)).await;
    let old = claim_one(&store, 1, 100).await.lease;
    let new = claim_one(&store, 100, 200).await.lease;
    let unknown = Lease {
        execution: id("nobody"),
        ..new.clone()
    };
    let future = Lease {
        epoch: Epoch(new.epoch.0 + 1),
        ..new.clone()
    };
    for lease in [&old, &unknown, &future] {
        for events in [vec![], vec![step(0, 1)], vec![step(0, 100_000)]] {
            let late = store.commit(commit(lease, 1, events)).await;
            let Err(StoreError::Fenced { execution, epoch }) = late else {
                panic!("{late:?}");
            };
            assert_eq!((execution, epoch), (lease.execution.clone(), lease.epoch));
        }
        store.release(vec![lease.clone()]).await.unwrap();
        let lost = store
            .renew(vec![lease.clone(), new.clone()], at(300))
            .await
            .unwrap();
        assert_eq!(lost, std::slice::from_ref(lease));
    }
    assert!(claim(&store, 250, 400, 9).await.is_empty());
    store
        .commit(commit(&new, 1, vec![step(0, 1)]))
        .await
        .unwrap();
    assert_eq!(history(&store, "a").await.len(), 2);
}

pub(super) async fn commits_of_many_executions_do_not_mix<S: Subject>(subject: &S) {
    let store = Arc::new(subject.fresh().await);
    for n in 0..64 {
        create(&*store, new(format!("{n}"), "f", 1)).await;
    }
    let claims = claim(&*store, 1, 100, 64).await;
    let work = claims.into_iter().enumerate().map(|(n, claim)| {
        let store = Arc::clone(&store);
        async move {
            for length in 1..20 {
                let size = 10 * n + length as usize;
                let events = vec![step(length, size)];
                store
                    .commit(commit(&claim.lease, u64::from(length), events))
                    .await
                    .unwrap();
            }
            let last = leave(&claim.lease, 20, vec![completed()], Status::Completed, None);
            store.commit(last).await.unwrap();
            (claim.lease.execution, n)
        }
    });
    for (execution, n) in together(work).await {
        let events = history(&*store, execution.as_str()).await;
        let mut expected: Vec<_> = (1..20)
            .map(|length| step(length, 10 * n + length as usize))
            .collect();
        expected.push(completed());
        assert!(events[1..] == expected, "{execution}");
    }
}

pub(super) async fn a_dropped_commit_happened_whole_or_not_at_all<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    for round in 0..60 {
        let name = format!("{round}");
        create(&store, new(&name, "f", 1)).await;
        let lease = claim_one(&store, 1, 1_000).await.lease;
        let size = if round % 10 == 0 { 50_000 } else { 100 };
        let events = vec![step(0, size), step(1, size)];
        let mut dropped = store.commit(leave(&lease, 1, events, Status::Failed, None));
        let mut polls = round % 3;
        poll_fn(|context| {
            if polls == 0 || dropped.as_mut().poll(context).is_ready() {
                return Poll::Ready(());
            }
            polls -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        drop(dropped);
        // What was asked for before is through when something later is.
        create(&store, new(format!("{round} later"), "later", 1)).await;
        let (events, header) = (history(&store, &name).await, header(&store, &name).await);
        match events.len() {
            1 => assert_eq!(header.status, Status::Running),
            3 => assert_eq!(header.status, Status::Failed),
            _ => panic!("half of a commit: {events:?}"),
        }
        store.release(vec![lease]).await.unwrap();
        if events.len() == 1 {
            let lease = claim_one(&store, 1, 1_000).await.lease;
            store
                .commit(leave(&lease, 1, vec![], Status::Failed, None))
                .await
                .unwrap();
        }
    }
}

pub(super) async fn headers_can_change_often<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    let first = new("a", "f", 0);
    create(&store, first.clone()).await;
    let mut expected = vec![first.first];
    for round in 0..40_u32 {
        let claim = claim_one(&store, i64::from(round), 1_000).await;
        assert_eq!(claim.header, header(&store, "a").await);
        assert!(!claim.suspect);
        let length = expected.len() as u64;
        // Events before, with and after a change of the header, of sizes that stand with it or not.
        let size = if round % 4 == 0 { 2_000 } else { 30 };
        let events = [step(round, 5), step(round, size), step(round, 6)];
        store
            .commit(commit(&claim.lease, length, vec![events[0].clone()]))
            .await
            .unwrap();
        let mut middle = commit(&claim.lease, length + 1, vec![events[1].clone()]);
        middle.header = Some(change(Status::Running, Some(i64::from(round) + 1)));
        store.commit(middle).await.unwrap();
        store
            .commit(commit(&claim.lease, length + 2, vec![events[2].clone()]))
            .await
            .unwrap();
        store.release(vec![claim.lease]).await.unwrap();
        expected.extend(events);
        assert!(history(&store, "a").await == expected, "round {round}");
    }
    let store = subject.reopen(store).await;
    assert!(history(&store, "a").await == expected);
    let claim = claim_one(&store, 40, 1_000).await;
    store
        .commit(commit(
            &claim.lease,
            expected.len() as u64,
            vec![step(1, 1)],
        ))
        .await
        .unwrap();
}

pub(super) async fn what_is_read_during_changes_is_whole<S: Subject>(subject: &S) {
    let store = Arc::new(subject.fresh().await);
    let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let (store, done) = (Arc::clone(&store), Arc::clone(&done));
            async move {
                let mut reads = 0;
                while !done.load(std::sync::atomic::Ordering::SeqCst) {
                    // Either there is nothing, or a history from its beginning.
                    let header = store.header(&id("a")).await.unwrap();
                    let events = store.history(&id("a"), Sequence(0), 100).await.unwrap();
                    store.last_event(&id("a")).await.unwrap();
                    if let Some(crate::history::Event::Started { .. }) | None = events.first() {
                        reads += usize::from(header.is_some());
                    } else {
                        panic!("a history that does not begin: {events:?}");
                    }
                }
                reads
            }
        })
        .collect();
    let writer = {
        let (store, done) = (Arc::clone(&store), Arc::clone(&done));
        async move {
            for round in 0..40 {
                let mut new = new("a", "f", 1);
                // A header that is large, too.
                new.header.tags = [("tag".to_owned(), filler(6_000))].into();
                create(&*store, new).await;
                let lease = claim_one(&*store, 1, 1_000_000).await.lease;
                for length in 1..8 {
                    let size = if round % 2 == 0 { 9_000 } else { 10 };
                    let mut commit = commit(&lease, length, vec![step(1, size)]);
                    commit.header = (length % 2 == 0).then(|| change(Status::Running, Some(1)));
                    store.commit(commit).await.unwrap();
                }
                let last = leave(&lease, 8, vec![completed()], Status::Completed, None);
                store.commit(last).await.unwrap();
                assert_eq!(store.delete(vec![id("a")]).await.unwrap(), 1);
            }
            done.store(true, std::sync::atomic::Ordering::SeqCst);
            0
        }
    };
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(writer);
    readers
        .into_iter()
        .for_each(|reader| drop(tasks.spawn(reader)));
    let reads: usize = tasks.join_all().await.into_iter().sum();
    assert!(reads > 0);
}
