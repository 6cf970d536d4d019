//! Inboxes.

use super::Subject;
use super::kit::*;
use crate::history::{AcceptedArguments, Event, Status};
use crate::ids::Position;
use crate::store::{Claim, Message, Sent, Store};

/// An execution that failed at sequence 1, at rest.
async fn failed(store: &impl Store, name: &str) {
    create(store, new(name, "f", 1)).await;
    let lease = claim_one(store, 1, 100).await.lease;
    store
        .commit(leave(&lease, 1, vec![step(0, 1)], Status::Failed, None))
        .await
        .unwrap();
}

fn delivered(sent: Sent) -> crate::store::MessageId {
    match sent {
        Sent::Delivered(id) => id,
        other => panic!("{other:?}"),
    }
}

pub(super) async fn messages_keep_their_order_and_are_consumed_by_commits<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    for name in ["a", "b"] {
        create(&store, new(name, "f", 1)).await;
    }
    let mut sent = Vec::new();
    for n in 0..100 {
        let position = Position(n);
        let digest = new("x", "f", 1).header.arguments;
        let message = Message::Resume {
            accept_changed_arguments: Some(AcceptedArguments { position, digest }),
        };
        let number = delivered(store.send(&id("a"), message.clone(), at(5)).await.unwrap());
        sent.push((number, message));
        store.send(&id("b"), resume(), at(5)).await.unwrap();
    }
    assert!(sent.windows(2).all(|pair| pair[0].0 < pair[1].0));
    assert_eq!(store.inbox(&id("a"), 1_000).await.unwrap(), sent);
    assert_eq!(store.inbox(&id("a"), 7).await.unwrap(), sent[..7]);
    let claims = claim(&store, 1, 100, 9).await;
    let a = claims
        .iter()
        .find(|claim| claim.lease.execution == id("a"))
        .unwrap();
    assert!(a.mail);
    let mut consuming = commit(&a.lease, 1, vec![step(0, 1)]);
    consuming.consumed = sent[..50].iter().map(|(number, _)| *number).collect();
    let twice = consuming.consumed.clone();
    store.commit(consuming).await.unwrap();
    assert_eq!(store.inbox(&id("a"), 1_000).await.unwrap(), sent[50..]);
    // Taken out before is no fault, and a refused commit takes nothing.
    let mut again = commit(&a.lease, 2, vec![]);
    again.consumed = twice;
    store.commit(again).await.unwrap();
    let mut refused = commit(&a.lease, 7, vec![]);
    refused.consumed = sent.iter().map(|(number, _)| *number).collect();
    store.commit(refused).await.unwrap_err();
    assert_eq!(inbox(&store, "a").await.len(), 50);
    assert_eq!(inbox(&store, "b").await.len(), 100);
    assert_eq!(inbox(&store, "nobody").await, []);
}

pub(super) async fn a_message_wakes_an_execution_at_rest<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    failed(&store, "a").await;
    assert!(claim(&store, 1_000, 2_000, 9).await.is_empty());
    let first = delivered(store.send(&id("a"), resume(), at(70)).await.unwrap());
    let second = delivered(store.send(&id("a"), resume(), at(80)).await.unwrap());
    assert_eq!(header(&store, "a").await.due, Some(at(70)));
    assert!(claim(&store, 69, 2_000, 9).await.is_empty());
    let Claim {
        lease,
        header,
        mail,
        suspect,
        ..
    } = claim_one(&store, 70, 2_000).await;
    assert!(mail && !suspect);
    assert_eq!(header.status, Status::Failed);
    let mut resumed = leave(&lease, 2, vec![], Status::Running, Some(75));
    resumed.events = vec![Event::Resumed {
        at: at(70),
        accepted: vec![],
    }];
    resumed.consumed = vec![first, second];
    store.commit(resumed).await.unwrap();
    let lease = claim_one(&store, 75, 2_000).await.lease;
    store
        .commit(leave(&lease, 3, vec![completed()], Status::Completed, None))
        .await
        .unwrap();
    assert_eq!(history(&store, "a").await.len(), 4);
    assert!(claim(&store, 1_000, 2_000, 9).await.is_empty());
}

pub(super) async fn a_message_that_wakes_nobody_leaves_the_due_time<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    create(&store, new("a", "f", 90)).await;
    delivered(store.send(&id("a"), resume(), at(5)).await.unwrap());
    assert_eq!(header(&store, "a").await.due, Some(at(90)));
    assert!(claim(&store, 89, 100, 9).await.is_empty());
    assert!(claim_one(&store, 90, 100).await.mail);
}

pub(super) async fn mail_that_comes_during_a_lease_counts_when_it_ends<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    // The owner fails the execution and does not know of the mail.
    create(&store, new("a", "f", 1)).await;
    let lease = claim_one(&store, 1, 100).await.lease;
    delivered(store.send(&id("a"), resume(), at(60)).await.unwrap());
    delivered(store.send(&id("a"), resume(), at(65)).await.unwrap());
    store
        .commit(leave(&lease, 1, vec![step(0, 1)], Status::Failed, None))
        .await
        .unwrap();
    assert_eq!(header(&store, "a").await.due, Some(at(60)));
    let claim = claim_one(&store, 60, 100).await;
    assert!(claim.mail);
    // The owner takes out the first only.
    let mail = inbox(&store, "a").await;
    let mut left = leave(&claim.lease, 2, vec![], Status::Failed, None);
    left.consumed = vec![mail[0]];
    store.commit(left).await.unwrap();
    assert_eq!(header(&store, "a").await.due, Some(at(65)));

    // It comes between the failure and the release, or nobody releases at all.
    for name in ["b", "c"] {
        create(&store, new(name, "g", 1)).await;
        let claimed = store.claim(request(1, 100, 9, &["g"])).await.unwrap();
        let lease = claimed.claims[0].lease.clone();
        let mut failing = commit(&lease, 1, vec![step(0, 1)]);
        failing.header = Some(change(Status::Failed, None));
        store.commit(failing).await.unwrap();
        assert_eq!(store.next_due(at(64)).await.unwrap(), Some(at(65)));
        delivered(store.send(&id(name), resume(), at(70)).await.unwrap());
        if name == "b" {
            store.release(vec![lease]).await.unwrap();
        } else {
            let early = store.claim(request(99, 200, 9, &["g"])).await.unwrap();
            assert!(early.claims.is_empty());
        }
        let claimed = store.claim(request(100, 200, 9, &["g"])).await.unwrap();
        assert_eq!(names(&claimed.claims), [name]);
        // At rest, it cannot have been in a command.
        assert!(!claimed.claims[0].suspect);
        let mut done = leave(&claimed.claims[0].lease, 2, vec![], Status::Completed, None);
        done.consumed = inbox(&store, name).await;
        store.commit(done).await.unwrap();
    }
}

pub(super) async fn nobody_and_the_ended_get_no_mail<S: Subject>(subject: &S) {
    let store = subject.fresh().await;
    assert_eq!(
        store.send(&id("a"), resume(), at(1)).await.unwrap(),
        Sent::Unknown
    );
    create(&store, new("a", "f", 1)).await;
    let lease = claim_one(&store, 1, 100).await.lease;
    store
        .commit(leave(&lease, 1, vec![completed()], Status::Completed, None))
        .await
        .unwrap();
    let sent = store.send(&id("a"), resume(), at(1)).await.unwrap();
    assert_eq!(sent, Sent::Ended(Status::Completed));
    assert_eq!(inbox(&store, "a").await, []);
}
