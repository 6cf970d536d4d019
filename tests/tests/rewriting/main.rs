//! A store is written afresh: it becomes smaller and keeps everything, also when the process is killed or
//! the disk is full at any call on the way.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what is wrong ends the test, in its helpers too"
)]
#[path = "../disk/mod.rs"]
mod disk;
mod trouble;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use disk::load::{self, LENGTH, Listener};
use disk::raw;
use skail_runtime::ExecutionId;
use skail_runtime::store::{OpenError, Rewritten, SledStore, Store as _};

struct Nobody;

impl Listener for Nobody {
    fn tried(&self, _: &str, _: u64) {}
    fn acknowledged(&self, _: &str, _: u64) {}
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    runtime.block_on(future)
}

/// A store in which work was done, most of it deleted again. Says what it holds.
fn used(path: &Path, commits: u64) -> Vec<(String, u64)> {
    block_on(async {
        let store = Arc::new(SledStore::open(path).unwrap());
        load::run(&store, &Arc::new(Nobody), "all", 16, commits).await;
        let found = load::read_back(&store).await.unwrap();
        let done = found.iter().filter(|(_, length)| *length > LENGTH);
        let ids: Vec<_> = done
            .skip(3)
            .map(|(id, _)| ExecutionId::new(id).unwrap())
            .collect();
        assert!(!ids.is_empty(), "nothing was done");
        store.delete(ids).await.unwrap();
        store.close().await.unwrap();
    });
    contents(path)
}

/// What a store holds, every event compared, every open execution claimed once.
fn contents(path: &Path) -> Vec<(String, u64)> {
    block_on(async {
        let store = SledStore::open(path).unwrap();
        let found = load::read_back(&store).await.unwrap();
        load::all_claimable(&store, &found).await.unwrap();
        store.close().await.unwrap();
        found
    })
}

fn rewrite(path: &Path) -> Rewritten {
    SledStore::options().rewrite(path).unwrap()
}

/// Every key and value of a tree.
fn records(path: &Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    let tree = raw::tree(path);
    let records = tree.iter().map(|found| {
        let (key, value) = found.unwrap();
        (key.to_vec(), value.to_vec())
    });
    records.collect()
}

/// The names in a store's directory.
fn names(path: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(path).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

fn only_one_tree(path: &Path) {
    let expected = ["lock", "sled", "store", "watermark"].map(str::to_owned);
    assert_eq!(names(path), BTreeSet::from(expected));
}

#[test]
fn a_store_becomes_smaller_and_keeps_everything() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let before = used(&path, 6_000);
    let rewritten = rewrite(&path);
    assert_eq!(rewritten.executions, before.len());
    assert_eq!(rewritten.damaged, []);
    assert!(
        rewritten.size_after * 4 < rewritten.size_before,
        "{rewritten:?}"
    );
    only_one_tree(&path);
    assert_eq!(contents(&path), before);

    // It works on, and can be rewritten as often as one likes.
    let later = block_on(async {
        let store = Arc::new(SledStore::open(&path).unwrap());
        load::run(&store, &Arc::new(Nobody), "later", 8, 300).await;
        let found = load::read_back(&store).await.unwrap();
        // As if it were killed: what was under way is taken up in the rewritten store too.
        drop(store);
        found
    });
    assert!(later.len() > before.len());
    for _ in 0..2 {
        assert_eq!(rewrite(&path).executions, later.len());
        only_one_tree(&path);
    }
    assert_eq!(contents(&path), later);
}

/// Without any rewriting: what is deleted makes room for what comes.
#[test]
fn the_room_of_what_was_deleted_is_used_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let mut sizes = Vec::new();
    for _ in 0..12 {
        used(&path, 3_000);
        let files = ["db", "conf"].map(|name| fs::metadata(path.join("sled").join(name)));
        sizes.push(files.map(|file| file.unwrap().len()).iter().sum::<u64>());
    }
    assert!(sizes[11] < sizes[3] * 3 / 2, "{sizes:?}");
}

#[test]
fn every_record_is_copied_byte_by_byte() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    used(&path, 500);
    // What deletions leave is gone after the first.
    rewrite(&path);
    let before = records(&path);
    let rewritten = rewrite(&path);
    assert_eq!(rewritten.left_behind, 0);
    assert_eq!(records(&path), before);
}

#[test]
fn what_nothing_refers_to_is_left_behind() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    used(&path, 300);
    rewrite(&path);
    let before = records(&path);
    let unused = 99_u64.to_be_bytes();
    let insert = |spoil: bool| {
        let tree = raw::tree(&path);
        // Parts, events and messages of an execution that is no more, and the note of its deletion.
        for prefix in *b"cemx" {
            let number = [&[prefix][..], &unused].concat();
            let rest: &[u8] = match prefix {
                b'c' => &[0; 12],
                b'x' => &[],
                _ => &[0; 8],
            };
            tree.insert([&number, rest].concat(), b"left").unwrap();
        }
        // What a later release may add.
        tree.insert(b"z later", b"kept").unwrap();
        if spoil {
            let (key, _) = tree.scan_prefix("e").next_back().unwrap().unwrap();
            tree.insert(key, b"rotten").unwrap();
        }
        tree.flush().unwrap();
    };
    insert(false);
    assert_eq!(rewrite(&path).left_behind, 4);
    let mut expected = before;
    expected.push((b"z later".to_vec(), b"kept".to_vec()));
    assert_eq!(records(&path), expected);

    // Where one record cannot be read, it may be what refers to them.
    insert(true);
    let with_rot = records(&path);
    let rewritten = rewrite(&path);
    assert_eq!((rewritten.left_behind, rewritten.damaged.len()), (0, 1));
    assert_eq!(records(&path), with_rot);
}

#[test]
fn damaged_executions_are_named_and_copied_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let found = used(&path, 300);
    // The first header, but events and parts of the execution that was made last.
    let victim = |prefix: &str| {
        let tree = raw::tree(&path);
        let mut all = tree.scan_prefix(prefix);
        let found = if prefix == "h" {
            all.next()
        } else {
            all.next_back()
        };
        let (key, value) = found.unwrap().unwrap();
        let mut value = value.to_vec();
        value[9] ^= 1;
        tree.insert(&key, value).unwrap();
        tree.flush().unwrap();
        key.to_vec()
    };
    let header = victim("h");
    victim("e");
    victim("c");
    let before = records(&path);
    let rewritten = rewrite(&path);
    assert_eq!(rewritten.executions, found.len());
    let named = String::from_utf8(header[1..].to_vec()).unwrap();
    assert!(
        rewritten.damaged.iter().any(|id| id.as_str() == named),
        "{rewritten:?}"
    );
    assert!(rewritten.damaged.len() >= 2, "{rewritten:?}");
    assert_eq!(records(&path), before);
    drop(SledStore::open(&path).unwrap());
}

#[test]
fn where_no_store_is_nothing_is_made_or_changed() {
    let directory = tempfile::tempdir().unwrap();
    let refused = |path: &Path| {
        let error = SledStore::options().rewrite(path).unwrap_err();
        assert!(
            error.to_string().contains(&path.display().to_string()),
            "{error}"
        );
        error
    };
    let missing = directory.path().join("nowhere");
    assert!(matches!(refused(&missing), OpenError::Missing { .. }));
    assert!(!missing.exists());
    assert!(matches!(
        refused(directory.path()),
        OpenError::Missing { .. }
    ));
    assert_eq!(names(directory.path()), BTreeSet::new());

    let file = directory.path().join("notes.txt");
    fs::write(&file, "mine").unwrap();
    assert!(matches!(refused(&file), OpenError::NotADirectory { .. }));
    assert!(matches!(
        refused(directory.path()),
        OpenError::Foreign { .. }
    ));
    assert_eq!(names(directory.path()).len(), 1);

    let path = directory.path().join("store");
    let found = used(&path, 300);
    let store = SledStore::open(&path).unwrap();
    assert!(matches!(refused(&path), OpenError::Held { .. }));
    drop(store);
    let tree = path.join("sled");
    let aside = path.join("aside");
    fs::rename(&tree, &aside).unwrap();
    assert!(matches!(refused(&path), OpenError::Lost { .. }));
    fs::remove_dir_all(&tree).unwrap();
    fs::rename(&aside, &tree).unwrap();
    assert_eq!(contents(&path), found);
}

/// What a kill between two renames leaves, made by hand.
#[test]
fn an_opening_ends_what_an_interrupted_rewriting_left() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let found = used(&path, 300);
    let [tree, new, old] = ["sled", "sled.new", "sled.old"].map(|name| path.join(name));
    let rotten = |path: &Path| {
        fs::create_dir(path).unwrap();
        fs::write(path.join("db"), [7; 100]).unwrap();
    };
    type Making<'a> = &'a dyn Fn();
    let states: [Making<'_>; 5] = [
        // Killed while it copied.
        &|| rotten(&new),
        // Between the renames.
        &|| {
            fs::rename(&tree, &new).unwrap();
            rotten(&old);
        },
        // While it removed the old one.
        &|| rotten(&old),
        &|| {
            rotten(&old);
            rotten(&new);
        },
        // Somebody cleared up by hand.
        &|| fs::rename(&tree, &old).unwrap(),
    ];
    for make in states {
        make();
        assert_eq!(contents(&path), found);
        only_one_tree(&path);
        make();
        rewrite(&path);
        assert_eq!(contents(&path), found);
        only_one_tree(&path);
    }
    // A tree that is only half there is not taken for one.
    fs::rename(&tree, &new).unwrap();
    let error = SledStore::open(&path).unwrap_err();
    assert!(matches!(error, OpenError::Lost { .. }), "{error}");
    assert!(new.join("db").exists());
}
