//! What a directory must be to be opened as a store, and what is said when it isn't.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what is wrong ends the test, in its helpers too"
)]

mod disk;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use disk::child::{self, say, variable};
use disk::load;
use skail_runtime::store::{OpenError, SledStore, Store as _};

/// Every file below a directory, with its bytes.
fn contents(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            found.insert(path.display().to_string(), fs::read(&path).unwrap());
        }
    }
    found
}

fn refusal(path: &Path) -> OpenError {
    match SledStore::open(path) {
        Ok(_) => panic!("{} was opened", path.display()),
        Err(error) => {
            assert!(
                error.to_string().contains(&path.display().to_string()),
                "{error}"
            );
            error
        }
    }
}

/// A closed store with one execution.
async fn one_execution(path: &Path) {
    let store = SledStore::open(path).unwrap();
    store.create(load::execution("s1")).await.unwrap();
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_store_is_made_where_nothing_is_and_opens_again() {
    let directory = tempfile::tempdir().unwrap();
    for path in [directory.path().join("a/b/c"), directory.path().to_owned()] {
        if path == *directory.path() {
            fs::remove_dir_all(path.join("a")).unwrap();
        }
        one_execution(&path).await;
        let store = SledStore::open(&path).unwrap();
        assert_eq!(
            load::read_back(&store).await.unwrap(),
            [("s1".to_owned(), 1)]
        );
    }
}

#[test]
fn a_file_is_refused_and_stays_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.txt");
    fs::write(&path, "mine").unwrap();
    assert!(matches!(refusal(&path), OpenError::NotADirectory { .. }));
    assert_eq!(fs::read(&path).unwrap(), b"mine");
}

#[test]
fn a_directory_of_something_else_is_refused_and_stays_as_it_is() {
    for name in ["notes.txt", "db", "sled", "conf", ".hidden"] {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(name), "mine").unwrap();
        fs::create_dir(directory.path().join("empty")).unwrap();
        let before = contents(directory.path());
        assert!(matches!(
            refusal(directory.path()),
            OpenError::Foreign { .. }
        ));
        assert_eq!(contents(directory.path()), before);
        assert!(directory.path().join("empty").exists());
    }
    // Even one whose file has the marker's name.
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("store"), "groceries\n").unwrap();
    let error = refusal(directory.path());
    assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
    assert_eq!(
        fs::read(directory.path().join("store")).unwrap(),
        b"groceries\n"
    );
    assert_eq!(contents(directory.path()).len(), 1);
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let error = refusal(Path::new("/proc/skail"));
    assert!(matches!(error, OpenError::Io { .. }), "{error}");
}

#[tokio::test]
async fn a_second_opening_is_refused_with_the_holders_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let store = SledStore::open(&path).unwrap();
    // In this process, from another one, and after the first is closed.
    let error = refusal(&path);
    assert!(matches!(error, OpenError::Held { holder: Some(id), .. } if id == std::process::id()));
    assert!(error.to_string().contains("this process"), "{error}");
    let mut other = child::start(
        "holds_a_store",
        &[("SKAIL_HELD", path.display().to_string())],
    );
    let said = other.line().unwrap();
    let id = format!("process {}", std::process::id());
    assert!(
        said.contains(&id) && said.contains(&*path.display().to_string()),
        "{said}"
    );
    assert!(other.end());
    store.close().await.unwrap();
    drop(SledStore::open(&path).unwrap());
}

#[test]
fn the_lock_of_a_killed_process_is_no_obstacle() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    for _ in 0..3 {
        let mut other = child::start(
            "holds_a_store",
            &[("SKAIL_HELD", path.display().to_string())],
        );
        let said = other.line().unwrap();
        let Some(id) = said.strip_prefix("holds it as ") else {
            panic!("{said}");
        };
        let error = refusal(&path);
        assert!(
            error.to_string().contains(&format!("process {id}")),
            "{error}"
        );
        other.kill();
        assert!(!other.end());
        drop(SledStore::open(&path).unwrap());
    }
}

/// What the other processes run; as a test of its own it does nothing.
#[test]
fn holds_a_store() {
    let Some(path) = variable("SKAIL_HELD") else {
        return;
    };
    match SledStore::open(path) {
        Err(error) => say(&error.to_string()),
        Ok(_store) => {
            say(&format!("holds it as {}", std::process::id()));
            loop {
                std::thread::park();
            }
        }
    }
}

#[tokio::test]
async fn a_store_of_a_later_release_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    one_execution(&path).await;
    let marker = path.join("store");
    let text = fs::read_to_string(&marker).unwrap();
    fs::write(&marker, text.replace("format 1", "format 2")).unwrap();
    let error = SledStore::open(&path).unwrap_err();
    assert!(
        matches!(error, OpenError::Format { found: 2, .. }),
        "{error}"
    );
    fs::write(&marker, text).unwrap();
    drop(SledStore::open(&path).unwrap());
}

#[tokio::test]
async fn a_tree_that_is_gone_is_a_loud_failure() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    one_execution(&path).await;
    fs::remove_dir_all(path.join("sled")).unwrap();
    for _ in 0..2 {
        let error = refusal(&path);
        assert!(matches!(error, OpenError::Lost { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_tree_of_yesterday_is_a_loud_failure() {
    let directory = tempfile::tempdir().unwrap();
    let (path, copy) = (
        directory.path().join("store"),
        directory.path().join("yesterday"),
    );
    one_execution(&path).await;
    copy_directory(&path.join("sled"), &copy);
    let store = SledStore::open(&path).unwrap();
    store.create(load::execution("s2")).await.unwrap();
    store.close().await.unwrap();
    fs::remove_dir_all(path.join("sled")).unwrap();
    fs::rename(&copy, path.join("sled")).unwrap();
    let error = refusal(&path);
    assert!(matches!(error, OpenError::Lost { .. }), "{error}");
}

#[tokio::test]
async fn a_tree_of_another_store_is_a_loud_failure() {
    let directory = tempfile::tempdir().unwrap();
    let (one, other) = (directory.path().join("one"), directory.path().join("other"));
    one_execution(&one).await;
    one_execution(&other).await;
    fs::remove_dir_all(one.join("sled")).unwrap();
    fs::rename(other.join("sled"), one.join("sled")).unwrap();
    let error = refusal(&one);
    assert!(matches!(error, OpenError::Lost { .. }), "{error}");
}

#[tokio::test]
async fn a_side_file_that_is_damaged_or_gone_is_a_loud_failure() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    one_execution(&path).await;
    let side = path.join("watermark");
    let bytes = fs::read(&side).unwrap();
    fs::write(&side, vec![0; bytes.len()]).unwrap();
    assert!(matches!(refusal(&path), OpenError::Unreadable { .. }));
    fs::remove_file(&side).unwrap();
    assert!(matches!(refusal(&path), OpenError::Io { .. }));
    fs::write(&side, bytes).unwrap();
    drop(SledStore::open(&path).unwrap());
}

#[tokio::test]
async fn what_an_interrupted_opening_left_is_removed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    one_execution(&path).await;
    // Sorts last, as sled names them; a stub, as a kill between two writes leaves it.
    let stub = path.join("sled/snap.FFFFFFFFFFFFFFFF.generating");
    fs::write(&stub, [0; 3]).unwrap();
    let store = SledStore::open(&path).unwrap();
    assert!(!stub.exists());
    assert_eq!(load::read_back(&store).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_store_that_was_never_finished_is_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    one_execution(&path).await;
    // As after a kill before the marker was there.
    fs::remove_file(path.join("store")).unwrap();
    fs::remove_dir_all(path.join("sled")).unwrap();
    let store = SledStore::open(&path).unwrap();
    assert_eq!(load::read_back(&store).await.unwrap(), []);
}

fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_directory(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}
