//! A store that knows of no lists, or has lists that an older release left behind, is listed when it is
//! opened: once, and whole.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what is wrong ends the test, in its helpers too"
)]

#[path = "disk/raw.rs"]
mod raw;

use std::path::Path;

use serde::{Deserialize, Serialize};
use skail_runtime::ExecutionId;
use skail_runtime::clock::Timestamp;
use skail_runtime::codec::Payload;
use skail_runtime::history::{Event, Status, decode_record, encode_record};
use skail_runtime::store::{Durability, Header, NewExecution, Search, SledStore, Store as _};

/// The record of the last opening, as releases wrote it that knew of no lists.
#[derive(Serialize, Deserialize)]
struct Opening {
    store: u128,
    first_stamp: u64,
    closed: bool,
    suspects_before: u64,
}

fn open(path: &Path) -> SledStore {
    let options = SledStore::options().durability(Durability::Process);
    options.open(path).unwrap()
}

fn execution(number: u32, function: &str) -> NewExecution {
    let at = Timestamp::from_millis(i64::from(number));
    let arguments = Payload::encode(&number).unwrap();
    let header = Header {
        id: ExecutionId::new(format!("order-{number:04}")).unwrap(),
        function: function.to_owned(),
        arguments: arguments.digest(),
        status: Status::Running,
        created_at: at,
        updated_at: at,
        due: Some(at),
        tags: [("half".to_owned(), (number % 2).to_string())].into(),
        problem: None,
    };
    let first = Event::Started {
        at,
        function: function.to_owned(),
        arguments,
    };
    NewExecution { header, first }
}

/// Makes the store one that a release without lists has opened last.
fn forget_the_lists(path: &Path, change: impl FnOnce(&sled::Db)) {
    let tree = raw::tree(path);
    let opening = tree.get("0").unwrap().unwrap();
    let (mark, record) = opening.split_last().unwrap();
    let opening: Opening = decode_record(record).unwrap();
    let mut record = encode_record(&opening);
    record.push(*mark);
    tree.insert("0", record).unwrap();
    change(&tree);
    tree.flush().unwrap();
}

fn keys(tree: &sled::Db, spaces: &str) -> Vec<sled::IVec> {
    let prefixes = spaces.chars().map(String::from);
    let scans = prefixes.flat_map(|prefix| tree.scan_prefix(prefix).keys());
    scans.map(Result::unwrap).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_store_is_listed_when_it_is_opened() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let store = open(&path);
    for number in 0..300 {
        let function = if number % 3 == 0 { "f" } else { "g" };
        store.create(execution(number, function)).await.unwrap();
    }
    store.close().await.unwrap();
    drop(store);
    let everything = {
        let tree = raw::tree(&path);
        keys(&tree, "int")
    };
    assert_eq!(everything.len(), 300 + 2 + 300);

    // No lists at all; a part of them and some that mean nothing, as a kill in the listing or a visit of
    // an older release leaves them.
    let nothing_left = |tree: &sled::Db| {
        for key in keys(tree, "int") {
            tree.remove(key).unwrap();
        }
    };
    let a_part_left = |tree: &sled::Db| {
        for key in keys(tree, "int").into_iter().step_by(2) {
            tree.remove(key).unwrap();
        }
        for space in ["i", "n", "t"] {
            let key = format!("{space}of the past, and of nobody");
            tree.insert(key, "unreadable").unwrap();
        }
    };
    for change in [&nothing_left as &dyn Fn(&sled::Db), &a_part_left] {
        forget_the_lists(&path, change);
        let store = open(&path);
        let search = Search {
            function: Some("f".to_owned()),
            tag: Some(("half".to_owned(), "1".to_owned())),
            limit: 1_000,
            ..Search::default()
        };
        let found = store.find(search).await.unwrap();
        assert_eq!(found.headers.len(), 50);
        assert!(found.damaged.is_empty() && found.next.is_none());
        let mut counts = store.counts().await.unwrap();
        counts.sort_by(|one, other| one.function.cmp(&other.function));
        let counts: Vec<_> = counts
            .iter()
            .map(|count| (count.function.as_str(), count.executions))
            .collect();
        assert_eq!(counts, [("f", 100), ("g", 200)]);
        store.close().await.unwrap();
        drop(store);
        let tree = raw::tree(&path);
        assert_eq!(keys(&tree, "int"), everything);
    }
}
