//! A data sync lies between each acknowledged commit and its acknowledgement, and many commits share one.
//!
//! Each commit carries a mark that stands nowhere else. When it is acknowledged, the mark is among the
//! bytes of the log that a sync has covered, as the system calls of this very program tell.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what is wrong ends the test, in its helpers too"
)]

mod disk;

use std::path::Path;
use std::sync::Arc;

use disk::calls;
use disk::follow::{DISKS, Follow};
use disk::load;
use skail_runtime::clock::Timestamp;
use skail_runtime::codec::Payload;
use skail_runtime::history::{Event, Status};
use skail_runtime::store::{Claim, ClaimRequest, Commit, HeaderChange, SledStore, Store as _};
use skail_runtime::{Sequence, WorkerId};

/// Whether a sync has covered a place of the log at which `mark` stands.
fn is_on_disk(store: &Path, mark: &str) -> bool {
    let disks = DISKS.lock().unwrap();
    let logs = disks
        .values()
        .filter(|(path, _)| path.starts_with(store) && path.ends_with("db"));
    let finder = |bytes: &[u8]| {
        bytes
            .windows(mark.len())
            .rev()
            .any(|window| window == mark.as_bytes())
    };
    logs.map(|(_, disk)| &disk.durable)
        .any(|durable| finder(durable))
}

fn marked(claim: &Claim, length: u64, mark: &str, last: bool) -> Commit {
    let at = Timestamp::from_millis(1);
    let result = Payload::encode(mark).unwrap();
    Commit {
        lease: claim.lease.clone(),
        first: Sequence(length),
        events: vec![Event::Completed { at, result }],
        consumed: Vec::new(),
        header: last.then_some(HeaderChange {
            at,
            status: Status::Completed,
            due: None,
            problem: None,
        }),
        release: last,
    }
}

async fn claims(store: &SledStore, executions: usize) -> Vec<Claim> {
    for n in 0..executions {
        store
            .create(load::execution(&format!("s{n}")))
            .await
            .unwrap();
    }
    let request = ClaimRequest {
        worker: WorkerId::generate(),
        now: Timestamp::from_millis(1),
        until: Timestamp::MAX,
        limit: executions,
        functions: Arc::from(["load".to_owned()]),
    };
    let claims = store.claim(request).await.unwrap().claims;
    assert_eq!(claims.len(), executions);
    claims
}

/// One test, since there is one observer in a process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_acknowledged_is_on_disk_and_many_share_a_sync() {
    calls::observe(Follow { lying: false });
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let store = Arc::new(SledStore::open(&path).unwrap());
    let mut claims = claims(&store, 257).await;

    // One after the other: each has a sync of its own.
    let alone = claims.pop().unwrap();
    for n in 1..=100 {
        let (mark, before) = (format!("<alone {n}>"), store.syncs());
        store
            .commit(marked(&alone, n, &mark, n == 100))
            .await
            .unwrap();
        assert!(store.syncs() > before);
        assert!(
            is_on_disk(&path, &mark),
            "{mark} was acknowledged and is not on disk"
        );
    }

    // 256 at once: each is on disk when it is acknowledged, and far fewer syncs are made than commits.
    let before = store.syncs();
    let mut tasks = tokio::task::JoinSet::new();
    for (n, claim) in claims.into_iter().enumerate() {
        let (store, path) = (Arc::clone(&store), path.clone());
        tasks.spawn(async move {
            for length in 1..=8 {
                let mark = format!("<{n} of many, {length}>");
                store
                    .commit(marked(&claim, length, &mark, false))
                    .await
                    .unwrap();
                // Looking for every one of them would be the only thing that is measured.
                if (n as u64 + length).is_multiple_of(64) {
                    assert!(is_on_disk(&path, &mark), "{mark}");
                }
            }
        });
    }
    tasks.join_all().await;
    let syncs = store.syncs() - before;
    println!("2048 commits of 256 executions, {syncs} syncs");
    assert!(
        syncs > 0 && syncs < 2_048 / 8,
        "{syncs} syncs for 2048 commits"
    );
    store.close().await.unwrap();
}
