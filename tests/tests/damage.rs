//! Rotten records, and what every record has to look like: read and spoiled through sled itself.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what is wrong ends the test, in its helpers too"
)]

mod disk;

use std::path::Path;
use std::sync::Arc;

use disk::child::{self, say, variable};
use disk::{load, raw};
use skail_runtime::clock::Timestamp;
use skail_runtime::history::Status;
use skail_runtime::store::{
    Claim, ClaimRequest, Commit, Durability, HeaderChange, SledStore, Store as _, StoreError,
};
use skail_runtime::{ExecutionId, Sequence, WorkerId};

/// A way for a record to rot; says whether it did.
type Spoiling<'a> = &'a dyn Fn(&mut Vec<u8>) -> bool;

struct Nobody;

impl load::Listener for Nobody {
    fn tried(&self, _: &str, _: u64) {}
    fn acknowledged(&self, _: &str, _: u64) {}
}

fn id(name: &str) -> ExecutionId {
    ExecutionId::new(name).unwrap()
}

async fn claim(store: &SledStore) -> Vec<Claim> {
    let request = ClaimRequest {
        worker: WorkerId::generate(),
        now: Timestamp::from_millis(100),
        until: Timestamp::MAX,
        limit: usize::MAX,
        functions: Arc::from(["load".to_owned()]),
    };
    store.claim(request).await.unwrap().claims
}

/// Three executions of four events each, of all sizes, still open.
async fn three(path: &Path) {
    let store = SledStore::open(path).unwrap();
    for name in ["a", "bb", "ccc"] {
        store.create(load::execution(name)).await.unwrap();
    }
    for claim in claim(&store).await {
        for length in 1..4 {
            let name = claim.lease.execution.as_str();
            let commit = Commit {
                lease: claim.lease.clone(),
                first: Sequence(length),
                events: vec![load::event(name, length)],
                consumed: Vec::new(),
                header: None,
                release: false,
            };
            store.commit(commit).await.unwrap();
        }
    }
    store.close().await.unwrap();
}

/// Changes values of the tree that begin with `prefix`; says how many.
fn spoil(path: &Path, prefix: &str, spoil: impl Fn(&mut Vec<u8>) -> bool) -> usize {
    let tree = raw::tree(path);
    let mut spoiled = 0;
    for entry in tree.scan_prefix(prefix).collect::<Vec<_>>() {
        let (key, value) = entry.unwrap();
        let mut value = value.to_vec();
        if spoil(&mut value) {
            tree.insert(key, value).unwrap();
            spoiled += 1;
        }
    }
    tree.flush().unwrap();
    spoiled
}

#[tokio::test]
async fn a_damaged_event_names_its_execution_and_its_place() {
    // Every kind of damage, in events that stand by themselves and in parts of large ones.
    let flip = |place: usize| {
        move |value: &mut Vec<u8>| {
            let place = place.min(value.len() - 1);
            value[place] ^= 0x01;
            true
        }
    };
    let cut = |value: &mut Vec<u8>| {
        value.truncate(value.len() / 2);
        true
    };
    let empty = |value: &mut Vec<u8>| {
        value.clear();
        true
    };
    let kinds: [Spoiling<'_>; 7] = [
        &flip(0),
        &flip(1),
        &flip(7),
        &flip(60),
        &flip(usize::MAX),
        &cut,
        &empty,
    ];
    for spoiling in kinds {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        three(&path).await;
        assert!(spoil(&path, "e", spoiling) >= 9);
        let store = SledStore::open(&path).unwrap();
        for name in ["a", "bb", "ccc"] {
            // The header is whole, and what stands with it.
            assert!(store.header(&id(name)).await.unwrap().is_some());
            let error = store
                .history(&id(name), Sequence(0), 100)
                .await
                .unwrap_err();
            let StoreError::Damaged {
                execution, what, ..
            } = &error
            else {
                panic!("{error}");
            };
            assert_eq!(*execution, id(name));
            // The first event of the last one is too large to stand with the header.
            let first = usize::from(name != "ccc");
            assert_eq!(*what, format!("event {first} of its history"));
            assert!(error.to_string().contains("the other executions go on"));
        }
        // None can be worked on, and new ones are as ever.
        assert_eq!(claim(&store).await.len(), 0);
        store.create(load::execution("new")).await.unwrap();
        assert_eq!(claim(&store).await.len(), 1);
    }
}

#[tokio::test]
async fn a_missing_event_is_missed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    three(&path).await;
    let tree = raw::tree(&path);
    let second = tree.scan_prefix("e").nth(1).unwrap().unwrap().0;
    tree.remove(second).unwrap();
    drop(tree);
    let store = SledStore::open(&path).unwrap();
    let error = store.history(&id("a"), Sequence(0), 100).await.unwrap_err();
    assert!(
        error.to_string().contains("event 2 of its history"),
        "{error}"
    );
    assert_eq!(
        store
            .history(&id("bb"), Sequence(0), 100)
            .await
            .unwrap()
            .len(),
        4
    );
}

#[tokio::test]
async fn a_missing_or_damaged_part_is_noticed() {
    for remove in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let store = SledStore::open(&path).unwrap();
        // The event at 3 is one of 20,000 bytes in this one.
        let name = (1..20)
            .map(|n| "x".repeat(n))
            .find(|name| name.len() % 11 == 0)
            .unwrap();
        store.create(load::execution(&name)).await.unwrap();
        let claim = claim(&store).await.pop().unwrap();
        let events = (1..4)
            .map(|sequence| load::event(&name, sequence))
            .collect();
        let commit = Commit {
            lease: claim.lease,
            first: Sequence(1),
            events,
            consumed: Vec::new(),
            header: None,
            release: true,
        };
        store.commit(commit).await.unwrap();
        store.close().await.unwrap();
        let tree = raw::tree(&path);
        let parts: Vec<_> = tree.scan_prefix("c").map(|part| part.unwrap()).collect();
        assert!(parts.len() >= 5, "{}", parts.len());
        let (key, value) = &parts[2];
        if remove {
            tree.remove(key).unwrap();
        } else {
            let mut value = value.to_vec();
            value[100] ^= 0x80;
            tree.insert(key, value).unwrap();
        }
        drop(tree);
        let store = SledStore::open(&path).unwrap();
        let error = store
            .history(&id(&name), Sequence(0), 100)
            .await
            .unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("part"), "{error}");
    }
}

#[tokio::test]
async fn damaged_due_records_are_put_together_from_the_headers() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    three(&path).await;
    let spoiled = spoil(&path, "d", |value| {
        value[9] ^= 0xff;
        true
    });
    assert!(spoiled > 0);
    for _ in 0..2 {
        let store = SledStore::open(&path).unwrap();
        let found = load::read_back(&store).await.unwrap();
        assert_eq!(found.len(), 3);
        load::all_claimable(&store, &found).await.unwrap();
        store.close().await.unwrap();
    }
    assert_eq!(spoil(&path, "d", |value| value[9] == 0xff), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_value_is_large_enough_for_a_file_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let store = Arc::new(SledStore::open(&path).unwrap());
    for (name, size) in [("large start", 100_000), ("largest", 3_000_000)] {
        let mut new = load::execution(name);
        new.header.problem = Some("p".repeat(size / 10));
        new.header.tags = [("tag".to_owned(), "t".repeat(size / 20))].into();
        store.create(new).await.unwrap();
    }
    load::run(&store, &Arc::new(Nobody), "all", 40, 3_000).await;
    store.close().await.unwrap();
    drop(store);
    let tree = raw::tree(&path);
    let largest = tree
        .iter()
        .map(|entry| entry.unwrap().1.len())
        .max()
        .unwrap();
    assert!(largest <= 4_096, "{largest}");
    assert!(largest > 4_000, "there were large ones: {largest}");
    assert_eq!(
        std::fs::read_dir(path.join("sled/blobs")).map_or(0, Iterator::count),
        0
    );
}

#[tokio::test]
async fn a_large_header_leaves_nothing_behind_when_it_changes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let store = SledStore::open(&path).unwrap();
    let mut new = load::execution("s1");
    new.header.tags = [("tag".to_owned(), "t".repeat(20_000))].into();
    store.create(new).await.unwrap();
    for round in 1..30 {
        let lease = claim(&store).await.pop().unwrap().lease;
        let commit = Commit {
            lease,
            first: Sequence(round),
            events: vec![load::event("s1", round)],
            consumed: Vec::new(),
            header: Some(HeaderChange {
                at: Timestamp::from_millis(1),
                status: Status::Running,
                due: Some(Timestamp::from_millis(round as i64)),
                problem: Some("p".repeat(round as usize * 100)),
            }),
            release: true,
        };
        store.commit(commit).await.unwrap();
    }
    store.close().await.unwrap();
    drop(store);
    let tree = raw::tree(&path);
    let parts = tree.scan_prefix("c").count();
    assert!((5..=14).contains(&parts), "{parts} parts");
}

#[test]
fn what_survives_a_process_needs_no_sync() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let variables = [("SKAIL_PROCESS_STORE", path.display().to_string())];
    let mut process = child::start("keeps_a_store_of_the_process", &variables);
    assert_eq!(process.line().unwrap(), "written");
    process.kill();
    assert!(!process.end());
    let store = open_for_the_process(&path);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let found = runtime.block_on(load::read_back(&store)).unwrap();
    assert_eq!(found.iter().map(|(_, length)| length).sum::<u64>(), 100);
}

fn open_for_the_process(path: &Path) -> SledStore {
    SledStore::options()
        .durability(Durability::Process)
        .open(path)
        .unwrap()
}

/// Counts real syncs.
struct Syncs(Arc<std::sync::atomic::AtomicU32>);

impl disk::calls::Observer for Syncs {
    fn after(&self, call: disk::calls::Call<'_>) {
        if let disk::calls::Call::Sync { .. } = call {
            self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        }
    }
}

/// What the killed process runs; as a test of its own it does nothing.
#[tokio::test]
async fn keeps_a_store_of_the_process() {
    let Some(path) = variable("SKAIL_PROCESS_STORE") else {
        return;
    };
    let store = open_for_the_process(Path::new(&path));
    let syncs = Arc::<std::sync::atomic::AtomicU32>::default();
    disk::calls::observe(Syncs(Arc::clone(&syncs)));
    for n in 0..100 {
        store
            .create(load::execution(&format!("s{n}")))
            .await
            .unwrap();
    }
    // sled's own thread makes one now and then.
    assert!(syncs.load(std::sync::atomic::Ordering::SeqCst) < 20);
    say("written");
    loop {
        std::thread::park();
    }
}
