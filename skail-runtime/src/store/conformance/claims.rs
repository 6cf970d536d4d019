//! Claims and leases.

use std::collections::HashSet;
use std::sync::Arc;

use super::Subject;
use super::kit::*;
use crate::history::Status;
use crate::store::Store;

pub(super) async fn only_what_is_due_is_claimed_oldest_first<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    for (name, due) in [("c", 30), ("a", 20), ("e", 51), ("b", 10), ("d", 50)] {
        create(&store, new(name, "f", due)).await;
    }
    assert!(claim(&store, 9, 100, 10).await.is_empty());
    let claims = claim(&store, 50, 100, 10).await;
    assert_eq!(names(&claims), ["b", "a", "c", "d"]);
    for claim in &claims {
        assert_eq!(
            claim.header,
            header(&store, claim.lease.execution.as_str()).await
        );
        assert!(!claim.suspect && !claim.mail);
    }
    assert!(claim(&store, 50, 100, 10).await.is_empty());
    assert_eq!(names(&claim(&store, 51, 100, 10).await), ["e"]);
}

pub(super) async fn a_claim_takes_no_more_than_its_limit<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    for n in 0..500 {
        create(&store, new(format!("{n:03}"), "f", n / 3)).await;
    }
    assert!(claim(&store, 1_000, 2_000, 0).await.is_empty());
    let mut due = Vec::new();
    for limit in [1, 2, 3, 100, 200, 500] {
        let claims = claim(&store, 1_000, 2_000, limit).await;
        assert_eq!(claims.len(), limit.min(500 - due.len()));
        due.extend(claims.iter().map(|claim| claim.header.due.unwrap()));
    }
    assert!(due.is_sorted());
    assert_eq!(due.len(), 500);
}

pub(super) async fn a_claim_takes_named_functions_only<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    for n in 0..30 {
        create(
            &store,
            new(format!("{n:02}"), ["f", "g", "h"][n as usize % 3], n),
        )
        .await;
    }
    let claimed = store
        .claim(request(100, 200, 99, &["g", "unknown"]))
        .await
        .unwrap();
    assert!(
        claimed
            .claims
            .iter()
            .all(|claim| claim.header.function == "g")
    );
    assert_eq!(claimed.claims.len(), 10);
    let claimed = store.claim(request(100, 200, 99, &[])).await.unwrap();
    assert!(claimed.claims.is_empty());
    let claimed = store
        .claim(request(100, 200, 99, &["h", "f"]))
        .await
        .unwrap();
    let due: Vec<_> = claimed
        .claims
        .iter()
        .map(|claim| claim.header.due.unwrap())
        .collect();
    assert!(due.is_sorted());
    assert_eq!(due.len(), 20);
}

pub(super) async fn functions_named_later_find_what_was_passed_over<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    for n in 0..60 {
        create(
            &store,
            new(format!("{n:02}"), ["f", "g"][n as usize % 2], n / 4),
        )
        .await;
    }
    let mine = claim(&store, 10, 1_000, 7).await;
    assert_eq!(mine.len(), 7);
    store
        .release(vec![mine[0].lease.clone(), mine[3].lease.clone()])
        .await
        .unwrap();
    for at in [5, 20] {
        let claimed = store.claim(request(at, 1_000, 99, &["g"])).await.unwrap();
        let expected = (0..60).filter(|n| n % 2 == 1);
        let expected = expected
            .filter(|n| if at == 5 { n / 4 <= 5 } else { n / 4 > 5 })
            .count();
        assert_eq!(claimed.claims.len(), expected, "at {at}");
    }
    let rest = claim(&store, 20, 1_000, 99).await;
    assert_eq!(rest.len(), 30 - 5);
    assert_eq!(rest[0].lease.execution, mine[0].lease.execution);
    let all: HashSet<_> = rest
        .iter()
        .chain(&mine)
        .map(|claim| &claim.lease.execution)
        .collect();
    assert_eq!(all.len(), 30);
}

pub(super) async fn what_is_due_in_the_past_is_found_late<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    for n in 0..100 {
        create(&store, new(format!("now {n:02}"), "f", 1_000)).await;
    }
    assert_eq!(claim(&store, 1_000, 9_000, 60).await.len(), 60);
    create(&store, new("past", "f", -5)).await;
    create(&store, new("older", "f", i64::MIN)).await;
    create(&store, new("future", "f", i64::MAX)).await;
    assert_eq!(
        names(&claim(&store, 1_000, 9_000, 2).await),
        ["older", "past"]
    );
    assert_eq!(claim(&store, 1_000, 9_000, 99).await.len(), 40);
    assert_eq!(store.next_due(at(9_000)).await.unwrap(), Some(at(i64::MAX)));
    assert_eq!(
        names(&claim(&store, i64::MAX - 1, i64::MAX, 999).await).len(),
        102
    );
    assert_eq!(store.next_due(at(i64::MAX)).await.unwrap(), None);
}

pub(super) async fn two_workers_never_claim_the_same<S: Subject>(subject: &S) {
    let store = Arc::new(subject.fresh().await);
    for n in 0..400 {
        create(&*store, new(format!("{n}"), "f", n % 7)).await;
    }
    let workers = (0..4).map(|worker| {
        let store = Arc::clone(&store);
        async move {
            let mut mine = Vec::new();
            loop {
                let claims = claim(&*store, 10, 1_000, 1 + worker * 5).await;
                if claims.is_empty() {
                    return mine;
                }
                mine.extend(claims.into_iter().map(|claim| claim.lease.execution));
                tokio::task::yield_now().await;
            }
        }
    });
    let claimed: Vec<_> = together(workers).await.into_iter().flatten().collect();
    assert_eq!(claimed.len(), 400);
    assert_eq!(claimed.iter().collect::<HashSet<_>>().len(), 400);
}

pub(super) async fn an_ended_lease_is_claimed_again_with_a_higher_epoch<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    create(&store, new("a", "f", 1)).await;
    let mut last = claim_one(&store, 1, 10).await;
    assert!(!last.suspect);
    for round in 1..5 {
        assert!(
            claim(&store, 10 * round - 1, 10 * round + 10, 9)
                .await
                .is_empty()
        );
        let next = claim_one(&store, 10 * round, 10 * round + 10).await;
        assert!(next.suspect);
        assert!(next.lease.epoch > last.lease.epoch);
        let length = u64::try_from(round).unwrap();
        store
            .commit(commit(&next.lease, length, vec![step(1, 1)]))
            .await
            .unwrap();
        last = next;
    }
    // Given back, it is no suspect any more.
    store.release(vec![last.lease]).await.unwrap();
    assert!(!claim_one(&store, 200, 300).await.suspect);
}

pub(super) async fn a_lease_past_its_end_works_until_it_is_claimed<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    for name in ["a", "b", "c"] {
        create(&store, new(name, "f", 1)).await;
    }
    let claims = claim(&store, 1, 10, 9).await;
    // Time has passed, but nobody has claimed since.
    store
        .commit(commit(&claims[0].lease, 1, vec![step(0, 1)]))
        .await
        .unwrap();
    let leases = claims.iter().map(|claim| claim.lease.clone()).collect();
    assert_eq!(store.renew(leases, at(50)).await.unwrap(), []);
    assert!(claim(&store, 49, 100, 9).await.is_empty());
    let again = claim(&store, 50, 100, 2).await;
    assert_eq!(again.len(), 2);
    // The third was voided with them: it has no owner.
    let leases = claims.iter().map(|claim| claim.lease.clone()).collect();
    assert_eq!(store.renew(leases, at(500)).await.unwrap().len(), 3);
    assert!(claim_one(&store, 50, 100).await.suspect);
}

pub(super) async fn a_renewed_lease_lasts<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    for n in 0..10 {
        create(&store, new(format!("{n}"), "f", 1)).await;
    }
    let leases: Vec<_> = claim(&store, 1, 10, 10)
        .await
        .into_iter()
        .map(|claim| claim.lease)
        .collect();
    for now in [9, 18, 27] {
        assert!(claim(&store, now, now + 1, 99).await.is_empty());
        let lost = store.renew(leases.clone(), at(now + 10)).await.unwrap();
        assert_eq!(lost, []);
    }
    let lost = store.renew(leases[..5].to_vec(), at(60)).await.unwrap();
    assert_eq!(lost, []);
    let ended = claim(&store, 37, 100, 99).await;
    assert_eq!(ended.len(), 5);
    assert!(ended.iter().all(|claim| {
        leases[5..]
            .iter()
            .any(|old| old.execution == claim.lease.execution)
    }));
    let lost = store.renew(leases.clone(), at(100)).await.unwrap();
    assert_eq!(lost, leases[5..]);
}

pub(super) async fn a_released_execution_is_claimable_at_once<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    for n in 0..5 {
        create(&store, new(format!("{n}"), "f", n)).await;
    }
    for _ in 0..10 {
        let claims = claim(&store, 10, 100, 9).await;
        assert_eq!(names(&claims), ["0", "1", "2", "3", "4"]);
        assert!(claims.iter().all(|claim| !claim.suspect));
        let leases = claims.into_iter().map(|claim| claim.lease).rev().collect();
        store.release(leases).await.unwrap();
    }
}

pub(super) async fn an_execution_is_claimable_again_when_it_is_due_again<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    create(&store, new("a", "f", 1)).await;
    for round in 0..5 {
        let (now, next) = (10 * round + 1, 10 * round + 11);
        let lease = claim_one(&store, now, 1_000).await.lease;
        let length = u64::try_from(round).unwrap() + 1;
        let again = leave(
            &lease,
            length,
            vec![step(1, 1)],
            Status::Running,
            Some(next),
        );
        store.commit(again).await.unwrap();
        assert_eq!(header(&store, "a").await.due, Some(at(next)));
        assert_eq!(store.next_due(at(now)).await.unwrap(), Some(at(next)));
        assert!(claim(&store, next - 1, 1_000, 9).await.is_empty());
    }
    let claim = claim_one(&store, 51, 1_000).await;
    assert!(!claim.suspect);
    assert_eq!(history(&store, "a").await.len(), 6);
}

pub(super) async fn a_due_time_can_move_while_it_is_leased<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    create(&store, new("a", "f", 1)).await;
    let first = claim_one(&store, 1, 20).await;
    for (length, due) in [(1, 100), (2, 40), (3, 60)] {
        let mut moved = commit(&first.lease, length, vec![step(1, 1)]);
        moved.header = Some(change(Status::Running, Some(due)));
        store.commit(moved).await.unwrap();
    }
    store
        .commit(commit(&first.lease, 4, vec![step(1, 1)]))
        .await
        .unwrap();
    // The lease ends, but the execution is not due.
    assert!(claim(&store, 59, 100, 9).await.is_empty());
    let second = claim_one(&store, 60, 70).await;
    assert!(second.suspect);
    let mut moved = commit(&second.lease, 5, vec![step(1, 1)]);
    moved.header = Some(change(Status::Running, Some(90)));
    store.commit(moved).await.unwrap();
    store
        .commit(commit(&second.lease, 6, vec![step(1, 1)]))
        .await
        .unwrap();
    store.release(vec![second.lease]).await.unwrap();
    assert!(claim(&store, 89, 100, 9).await.is_empty());
    let third = claim_one(&store, 90, 100).await;
    assert!(!third.suspect);
    store
        .commit(commit(&third.lease, 7, vec![step(1, 1)]))
        .await
        .unwrap();
}

pub(super) async fn next_due_names_what_comes<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    assert_eq!(store.next_due(at(0)).await.unwrap(), None);
    for (name, due) in [("a", 10), ("b", 20), ("c", 30)] {
        create(&store, new(name, "f", due)).await;
    }
    create(&store, new("d", "another", 25)).await;
    for (after, next) in [(0, 10), (9, 10), (10, 20), (15, 20), (20, 25), (29, 30)] {
        assert_eq!(
            store.next_due(at(after)).await.unwrap(),
            Some(at(next)),
            "after {after}"
        );
    }
    assert_eq!(store.next_due(at(30)).await.unwrap(), None);
    // The end of a lease is news too, and never before the execution is due.
    let leases = claim(&store, 20, 27, 9).await;
    assert_eq!(names(&leases), ["a", "b"]);
    assert_eq!(store.next_due(at(20)).await.unwrap(), Some(at(25)));
    assert_eq!(store.next_due(at(25)).await.unwrap(), Some(at(27)));
    let rest = leave(
        &leases[0].lease,
        1,
        vec![completed()],
        Status::Completed,
        None,
    );
    store.commit(rest).await.unwrap();
    store
        .renew(vec![leases[1].lease.clone()], at(40))
        .await
        .unwrap();
    assert_eq!(store.next_due(at(30)).await.unwrap(), Some(at(40)));
    let rest = leave(
        &leases[1].lease,
        1,
        vec![completed()],
        Status::Completed,
        None,
    );
    store.commit(rest).await.unwrap();
    assert_eq!(store.next_due(at(30)).await.unwrap(), None);
}

pub(super) async fn the_history_at_hand_is_the_history<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    create(&store, new("a", "f", 0)).await;
    let mut length = 1;
    for round in 0..12 {
        let claim = claim_one(&store, round, 1_000).await;
        let stored = history(&store, "a").await;
        assert_eq!(stored.len() as u64, length);
        if let Some(at_hand) = claim.history {
            assert_eq!(at_hand, stored, "round {round}");
        }
        let mut again = commit(&claim.lease, length, vec![]);
        if round % 3 != 0 {
            again.events.push(step(1, 1));
        }
        if round % 2 == 0 {
            again.header = Some(change(Status::Running, Some(round + 1)));
        }
        length += again.events.len() as u64;
        again.release = round % 5 != 0;
        let released = again.release;
        store.commit(again).await.unwrap();
        if !released {
            store.release(vec![claim.lease]).await.unwrap();
        }
    }
}
