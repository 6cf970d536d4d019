//! Who is suspect after an unclean stop.

use super::Subject;
use super::kit::*;
use crate::history::Status;
use crate::store::Store;

pub(super) async fn after_a_crash_what_can_be_claimed_is_suspect_once<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    for n in 0..5 {
        create(&store, new(format!("{n}"), "f", n)).await;
    }
    let store = subject.reopen(store).await;
    let claims = claim(&store, 10, 100, 9).await;
    assert_eq!(claims.len(), 5);
    assert!(claims.iter().all(|claim| claim.suspect));
    // Given back in every way there is.
    store
        .release(vec![claims[0].lease.clone(), claims[1].lease.clone()])
        .await
        .unwrap();
    let mut commits = vec![
        commit(&claims[2].lease, 1, vec![]),
        commit(&claims[3].lease, 1, vec![step(0, 1)]),
    ];
    commits.push(leave(
        &claims[4].lease,
        1,
        vec![step(0, 1)],
        Status::Running,
        Some(20),
    ));
    for mut commit in commits {
        commit.release = true;
        store.commit(commit).await.unwrap();
    }
    let claims = claim(&store, 20, 100, 9).await;
    assert_eq!(claims.len(), 5);
    assert!(claims.iter().all(|claim| !claim.suspect));
    let leases = claims.into_iter().map(|claim| claim.lease).collect();
    store.release(leases).await.unwrap();
    store.close().await.unwrap();
    let store = subject.reopen(store).await;
    let claims = claim(&store, 20, 100, 9).await;
    assert_eq!(claims.len(), 5);
    assert!(claims.iter().all(|claim| !claim.suspect));
}

pub(super) async fn after_a_close_nothing_is_suspect<S: Subject>(subject: &S) {
    let mut store = subject.fresh().await;
    for n in 0..4 {
        create(&store, new(format!("{n}"), "f", n)).await;
    }
    for _ in 0..3 {
        let claims = claim(&store, 10, 100, 3).await;
        assert_eq!(claims.len(), 3);
        assert!(claims.iter().all(|claim| !claim.suspect));
        store.close().await.unwrap();
        store = subject.reopen(store).await;
    }
}

pub(super) async fn a_suspect_that_was_not_claimed_stays_one<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    for n in 0..4 {
        create(&store, new(format!("{n}"), "f", n)).await;
    }
    let store = subject.reopen(store).await;
    let claims = claim(&store, 1, 100, 9).await;
    assert_eq!(names(&claims), ["0", "1"]);
    store.close().await.unwrap();
    let store = subject.reopen(store).await;
    let claims = claim(&store, 10, 100, 9).await;
    let suspects: Vec<bool> = claims.iter().map(|claim| claim.suspect).collect();
    assert_eq!(names(&claims), ["0", "1", "2", "3"]);
    assert_eq!(suspects, [false, false, true, true]);
    // Another crash, and all are.
    let store = subject.reopen(store).await;
    assert!(
        claim(&store, 10, 100, 9)
            .await
            .iter()
            .all(|claim| claim.suspect)
    );
}

pub(super) async fn what_was_created_after_the_crash_is_not_suspect<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    create(&store, new("old", "f", 1)).await;
    let lease = claim_one(&store, 1, 100).await.lease;
    let store = subject.reopen(store).await;
    create(&store, new("new", "f", 2)).await;
    let claims = claim(&store, 10, 100, 9).await;
    assert_eq!(names(&claims), ["old", "new"]);
    assert!(claims[0].suspect && !claims[1].suspect);
    assert!(claims[0].lease.epoch > lease.epoch);
}

pub(super) async fn a_suspect_that_was_claimed_is_none_after_a_close<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    for n in 0..4 {
        create(&store, new(format!("{n}"), "f", n)).await;
    }
    let store = subject.reopen(store).await;
    let claims = claim(&store, 10, 20, 9).await;
    assert!(claims.iter().all(|claim| claim.suspect));
    // One is still held at the close, one has moved; the leases of two have ended by then.
    let mut moved = commit(&claims[1].lease, 1, vec![step(0, 1)]);
    moved.header = Some(change(Status::Running, Some(15)));
    store.commit(moved).await.unwrap();
    let held = vec![claims[0].lease.clone(), claims[1].lease.clone()];
    assert_eq!(store.renew(held, at(100)).await.unwrap(), []);
    assert!(claim(&store, 20, 100, 0).await.is_empty());
    store.close().await.unwrap();
    let store = subject.reopen(store).await;
    let claims = claim(&store, 20, 100, 9).await;
    assert_eq!(claims.len(), 4);
    assert!(claims.iter().all(|claim| !claim.suspect));
}
