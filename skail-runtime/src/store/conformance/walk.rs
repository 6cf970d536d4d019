//! Random walks, compared with the memory store at every step.

use std::collections::BTreeSet;

use super::Subject;
use super::kit::*;
use super::searches::both_find_the_same;
use crate::history::{Event, Status};
use crate::ids::{ExecutionId, Sequence};
use crate::store::{Commit, Header, HeaderChange, Lease, MemoryStore, MessageId, Query, Store};

/// One thing leased by both stores, under epochs of their own.
#[derive(Clone)]
struct Pair {
    theirs: Lease,
    ours: Lease,
}

struct Walk {
    random: fastrand::Rng,
    /// No two executions are due at the same time, so that which come first is certain.
    distinct: bool,
    dues: i64,
    now: i64,
    leases: Vec<Pair>,
    /// The numbers of messages, as the two stores gave them out.
    messages: Vec<(MessageId, MessageId)>,
    steps: u32,
}

pub(super) async fn a_random_walk_goes_as_in_memory<S: Subject>(subject: &S, seed: u64) {
    let mut theirs = subject.fresh().await;
    let mut ours = MemoryStore::new();
    let mut walk = Walk {
        random: fastrand::Rng::with_seed(seed),
        distinct: seed % 2 == 1,
        dues: 0,
        now: 0,
        leases: Vec::new(),
        messages: Vec::new(),
        steps: 0,
    };
    for turn in 0..150 {
        walk.now += walk.random.i64(0..4) * 1_000;
        match walk.random.u32(0..100) {
            0..20 => walk.create(&theirs, &ours).await,
            20..40 => walk.claim(&theirs, &ours).await,
            40..70 => walk.commit(&theirs, &ours).await,
            70..78 => walk.send(&theirs, &ours).await,
            78..84 => walk.release(&theirs, &ours).await,
            84..88 => walk.renew(&theirs, &ours).await,
            88..93 => walk.delete(&theirs, &ours).await,
            93..95 => {
                if walk.random.bool() {
                    theirs.close().await.unwrap();
                    ours.close().await.unwrap();
                }
                theirs = subject.reopen(theirs).await;
                ours = ours.crash();
            }
            _ => walk.compare(&theirs, &ours).await,
        }
        let after = at(walk.now);
        let (next, expected) = (
            theirs.next_due(after).await.unwrap(),
            ours.next_due(after).await.unwrap(),
        );
        // A store may name a point at which something was due that has moved since.
        let in_time = expected.is_none_or(|expected| next.is_some_and(|next| next <= expected));
        assert!(
            in_time,
            "seed {seed}, turn {turn}: {next:?} for {expected:?}"
        );
    }
    walk.compare(&theirs, &ours).await;
}

impl Walk {
    fn name(&mut self) -> String {
        format!("{}", self.random.u32(0..12))
    }

    fn function(&mut self) -> &'static str {
        ["f", "f", "g", "h"][self.random.usize(0..4)]
    }

    fn due(&mut self) -> i64 {
        self.dues += 1;
        let apart = if self.distinct { self.dues } else { 0 };
        self.now + self.random.i64(-10..10) * 1_000 + apart
    }

    fn event(&mut self) -> Event {
        self.steps += 1;
        let size = [1, 50, 900, 1_500, 5_000][self.random.usize(0..5)];
        step(self.steps, size)
    }

    async fn create(&mut self, theirs: &impl Store, ours: &MemoryStore) {
        let (name, function, due) = (self.name(), self.function(), self.due());
        let new = new(name, function, due);
        assert_eq!(
            theirs.create(new.clone()).await.unwrap(),
            ours.create(new).await.unwrap()
        );
    }

    async fn claim(&mut self, theirs: &impl Store, ours: &MemoryStore) {
        let functions: &[&str] =
            [&["f"] as &[_], &["g", "f"], &["h"], &["f", "g", "h"]][self.random.usize(0..4)];
        // Which of several that are due at the same time come first is for the store to choose, so all
        // of them are claimed then.
        let limit = if self.distinct {
            self.random.usize(0..4)
        } else {
            usize::MAX
        };
        let request = request(
            self.now,
            self.now + self.random.i64(1..30) * 1_000,
            limit,
            functions,
        );
        let theirs = theirs.claim(request.clone()).await.unwrap().claims;
        let mut ours = ours.claim(request).await.unwrap().claims;
        let due: Vec<_> = theirs.iter().map(|claim| claim.header.due).collect();
        assert!(due.is_sorted(), "{due:?}");
        assert_eq!(theirs.len(), ours.len(), "{theirs:#?} {ours:#?}");
        for claim in theirs {
            let same = |other: &crate::store::Claim| other.lease.execution == claim.lease.execution;
            let found = ours
                .iter()
                .position(same)
                .expect("both claim the same executions");
            let other = ours.swap_remove(found);
            assert_eq!(claim.header, other.header);
            assert_eq!((claim.suspect, claim.mail), (other.suspect, other.mail));
            if let (Some(history), Some(expected)) = (claim.history, other.history) {
                assert_eq!(history, expected);
            }
            self.leases.push(Pair {
                theirs: claim.lease,
                ours: other.lease,
            });
        }
    }

    /// A lease, the newest more often; some are stale.
    fn lease(&mut self) -> Option<Pair> {
        let newest = self.leases.len().checked_sub(1)?;
        let back = self.random.usize(0..=newest.min(6));
        Some(self.leases[newest - back].clone())
    }

    async fn commit(&mut self, theirs: &impl Store, ours: &MemoryStore) {
        let Some(pair) = self.lease() else {
            return;
        };
        let length = history(ours, pair.ours.execution.as_str()).await.len() as u64;
        let first = if self.random.u32(0..20) == 0 {
            length + 1
        } else {
            length
        };
        let events = (0..self.random.u32(0..4)).map(|_| self.event()).collect();
        let header = self.random.bool().then(|| {
            let status = [
                Status::Running,
                Status::Failed,
                Status::Blocked,
                Status::Completed,
            ][self.random.usize(0..4)];
            let due = (status == Status::Running).then(|| at(self.due()));
            HeaderChange {
                due,
                ..change(status, None)
            }
        });
        let consumed: Vec<_> = self
            .messages
            .iter()
            .filter(|_| self.random.bool())
            .copied()
            .collect();
        let commit = Commit {
            lease: pair.theirs,
            first: Sequence(first),
            events,
            consumed: consumed.iter().map(|(theirs, _)| *theirs).collect(),
            header,
            release: self.random.bool(),
        };
        let same = Commit {
            lease: pair.ours,
            consumed: consumed.iter().map(|(_, ours)| *ours).collect(),
            ..commit.clone()
        };
        let (theirs, ours) = (theirs.commit(commit).await, ours.commit(same).await);
        let kind =
            |result: &Result<(), _>| result.as_ref().map_err(std::mem::discriminant).copied();
        assert_eq!(kind(&theirs), kind(&ours), "{theirs:?} {ours:?}");
    }

    async fn send(&mut self, theirs: &impl Store, ours: &MemoryStore) {
        use crate::store::Sent;
        let (id, when) = (id(self.name()), at(self.due()));
        let theirs = theirs.send(&id, resume(), when).await.unwrap();
        let ours = ours.send(&id, resume(), when).await.unwrap();
        match (theirs, ours) {
            (Sent::Delivered(theirs), Sent::Delivered(ours)) => self.messages.push((theirs, ours)),
            (theirs, ours) => assert_eq!(theirs, ours),
        }
    }

    async fn release(&mut self, theirs: &impl Store, ours: &MemoryStore) {
        if let Some(pair) = self.lease() {
            theirs.release(vec![pair.theirs]).await.unwrap();
            ours.release(vec![pair.ours]).await.unwrap();
        }
    }

    async fn renew(&mut self, theirs: &impl Store, ours: &MemoryStore) {
        if let Some(pair) = self.lease() {
            let until = at(self.now + 20_000);
            let theirs = theirs.renew(vec![pair.theirs], until).await.unwrap();
            let ours = ours.renew(vec![pair.ours], until).await.unwrap();
            assert_eq!(theirs.len(), ours.len());
        }
    }

    async fn delete(&mut self, theirs: &impl Store, ours: &MemoryStore) {
        let ids: BTreeSet<ExecutionId> = (0..4).map(|_| id(self.name())).collect();
        let ids: Vec<_> = ids.into_iter().collect();
        let theirs = theirs.delete(ids.clone()).await.unwrap();
        assert_eq!(theirs, ours.delete(ids).await.unwrap());
    }

    async fn compare(&mut self, theirs: &impl Store, ours: &MemoryStore) {
        let query = Query {
            limit: 100,
            ..Query::default()
        };
        let page = theirs.list(query.clone()).await.unwrap();
        let expected = ours.list(query).await.unwrap();
        assert_eq!(page.headers, expected.headers);
        both_find_the_same(theirs, ours).await;
        for Header { id, .. } in page.headers {
            let name = id.as_str();
            assert!(
                history(theirs, name).await == history(ours, name).await,
                "{name}"
            );
            assert_eq!(
                inbox(theirs, name).await.len(),
                inbox(ours, name).await.len()
            );
            let length = history(ours, name).await.len() as u64;
            let (from, limit) = (
                Sequence(self.random.u64(0..=length)),
                self.random.usize(0..5),
            );
            let part = theirs.history(&id, from, limit).await.unwrap();
            assert!(
                part == ours.history(&id, from, limit).await.unwrap(),
                "{name} {from} {limit}"
            );
        }
    }
}
