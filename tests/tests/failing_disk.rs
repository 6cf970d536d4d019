//! The disk fails: the store stops for good, says so to everybody, and has lost nothing that it
//! acknowledged.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what is wrong ends the test, in its helpers too"
)]
#![allow(
    unsafe_code,
    reason = "the test stands between the store and the C library"
)]

mod disk;

use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use disk::calls::{self, Call, Observer};
use disk::child::{self, say, variable};
use disk::load::{self, Listener};
use disk::model::Model;
use skail_runtime::clock::Timestamp;
use skail_runtime::store::{Query, SledStore, Store as _, StoreError};
use skail_runtime::{ExecutionId, Sequence};

/// Fails every call of one kind from a chosen one on.
struct Failing {
    error: i32,
    syncs: bool,
    left: Arc<AtomicI64>,
}

impl Observer for Failing {
    fn before(&self, call: Call<'_>) -> Option<isize> {
        let hit = match call {
            Call::Write { .. } => !self.syncs,
            Call::Sync { .. } => self.syncs,
            _ => false,
        };
        if !hit || self.left.fetch_sub(1, Ordering::SeqCst) > 1 {
            return None;
        }
        unsafe { *libc::__errno_location() = self.error };
        Some(-1)
    }
}

#[derive(Default)]
struct Heard(Mutex<Model>);

impl Listener for Heard {
    fn tried(&self, id: &str, length: u64) {
        self.0.lock().unwrap().tried(id, length);
        say(&format!("try {id} {length}"));
    }

    fn acknowledged(&self, id: &str, length: u64) {
        say(&format!("ack {id} {length}"));
    }
}

#[test]
fn a_failed_write_stops_the_store_and_loses_nothing() {
    for (error, syncs, at) in [
        (libc::ENOSPC, false, 40),
        (libc::ENOSPC, false, 41),
        (libc::EIO, true, 30),
        (libc::EIO, true, 31),
        (libc::EIO, false, 200),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let store = directory.path().join("store");
        let variables = [
            ("SKAIL_FAILING", store.display().to_string()),
            ("SKAIL_ERROR", error.to_string()),
            ("SKAIL_SYNCS", syncs.to_string()),
            ("SKAIL_AT", at.to_string()),
        ];
        let mut process = child::start("works_on_a_failing_disk", &variables);
        let mut model = Model::default();
        let mut stopped = 0;
        while let Some(line) = process.line() {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["try", id, length] => model.tried(id, length.parse().unwrap()),
                ["ack", id, length] => model.acknowledged(id, length.parse().unwrap()),
                _ => {
                    let all_is_there = line.contains("everything acknowledged is there");
                    assert!(line.starts_with("stopped: ") && all_is_there, "{line}");
                    stopped += 1;
                }
            }
        }
        assert_eq!(stopped, 6, "everything is refused");
        assert!(process.end());
        let found = read_back(&store);
        model.check(&found).unwrap();
        assert!(found.len() > 3);
    }
}

/// Whichever write of an opening finds the disk full, or sync finds it broken: it says so, and once the
/// disk is well it opens again.
#[test]
fn an_opening_on_a_failing_disk_says_so_and_harms_nothing() {
    for (fresh, syncs) in [(true, false), (false, false), (true, true), (false, true)] {
        let directory = tempfile::tempdir().unwrap();
        let store = directory.path().join("store");
        let (mut refused, mut before) = (0, Vec::new());
        for at in 1.. {
            if fresh {
                let _ = std::fs::remove_dir_all(&store);
            } else if at == 1 {
                let mut process = child::start("works_on_a_failing_disk", &full(&store, 60));
                while process.line().is_some() {}
                before = read_back(&store);
                assert!(before.len() > 3);
            }
            let trouble = if syncs { broken } else { full };
            let mut process = child::start("opens_on_a_failing_disk", &trouble(&store, at));
            let said = process.line().expect("it says how it went");
            assert!(process.end(), "call {at}");
            assert_eq!(read_back(&store), before, "call {at}");
            if said == "opened" {
                break;
            }
            let what = if syncs {
                said.contains("Input/output error")
            } else {
                said.contains("disk has room") && said.contains("No space left")
            };
            assert!(what, "call {at}: {said}");
            refused += 1;
        }
        assert!(refused > 2, "only {refused} calls");
    }
}

fn full(store: &Path, at: u32) -> [(&'static str, String); 4] {
    failing(store, libc::ENOSPC, false, at)
}

fn broken(store: &Path, at: u32) -> [(&'static str, String); 4] {
    failing(store, libc::EIO, true, at)
}

fn failing(store: &Path, error: i32, syncs: bool, at: u32) -> [(&'static str, String); 4] {
    [
        ("SKAIL_FAILING", store.display().to_string()),
        ("SKAIL_ERROR", error.to_string()),
        ("SKAIL_SYNCS", syncs.to_string()),
        ("SKAIL_AT", at.to_string()),
    ]
}

/// What the other processes run; as a test of its own it does nothing.
#[test]
fn opens_on_a_failing_disk() {
    let Some(path) = variable("SKAIL_FAILING") else {
        return;
    };
    observe_failures();
    match SledStore::open(path) {
        Ok(_) => say("opened"),
        Err(error) => say(&error.to_string()),
    }
}

fn observe_failures() -> Arc<AtomicI64> {
    let left = Arc::new(AtomicI64::new(
        variable("SKAIL_AT").unwrap().parse().unwrap(),
    ));
    calls::observe(Failing {
        error: variable("SKAIL_ERROR").unwrap().parse().unwrap(),
        syncs: variable("SKAIL_SYNCS").unwrap().parse().unwrap(),
        left: Arc::clone(&left),
    });
    left
}

fn read_back(store: &Path) -> Vec<(String, u64)> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let store = SledStore::open(store).unwrap();
    runtime.block_on(async {
        let found = load::read_back(&store).await.unwrap();
        load::all_claimable(&store, &found).await.unwrap();
        found
    })
}

/// What the other processes run; as a test of its own it does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn works_on_a_failing_disk() {
    let Some(path) = variable("SKAIL_FAILING") else {
        return;
    };
    let store = Arc::new(SledStore::open(path).unwrap());
    let left = observe_failures();
    load::run(&store, &Arc::<Heard>::default(), "s", 24, u64::MAX).await;
    // The disk is well again, but the store does not trust it any more.
    left.store(i64::MAX, Ordering::SeqCst);
    let id = ExecutionId::new("s-0-0").unwrap();
    let refusals = async {
        [
            store.create(load::execution("later")).await.map(drop),
            store.header(&id).await.map(drop),
            store.history(&id, Sequence(0), 1).await.map(drop),
            store.list(Query::default()).await.map(drop),
            store.next_due(Timestamp::from_millis(0)).await.map(drop),
            store.close().await,
        ]
    };
    let refusals = tokio::time::timeout(Duration::from_secs(20), refusals)
        .await
        .unwrap();
    for refusal in refusals {
        match refusal {
            Err(error @ StoreError::Stopped { .. }) => say(&format!("stopped: {error}")),
            other => say(&format!("went on: {other:?}")),
        }
    }
}
