//! Every store of this workspace does what the contract of `Store` says.
//!
//! Set `SKAIL_EXTENT=long` for a million headers and random walks for minutes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what is wrong ends the test, in its helpers too"
)]

#[path = "disk/raw.rs"]
mod raw;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use skail_runtime::ExecutionId;
use skail_runtime::store::conformance::{self, Extent, Subject};
use skail_runtime::store::{Durability, MemoryStore, SledStore, Store as _};

struct Memory;

impl Subject for Memory {
    type Store = MemoryStore;

    async fn fresh(&self) -> MemoryStore {
        MemoryStore::new()
    }

    async fn reopen(&self, store: MemoryStore) -> MemoryStore {
        store.crash()
    }

    async fn damage(&self, store: MemoryStore, id: &ExecutionId) -> MemoryStore {
        assert!(store.damage(id));
        store
    }
}

struct Sled {
    directory: tempfile::TempDir,
    stores: AtomicU32,
}

impl Sled {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            stores: AtomicU32::new(0),
        }
    }
}

fn open(path: PathBuf) -> SledStore {
    let options = SledStore::options().durability(Durability::Process);
    options.cache_capacity(64 << 20).open(path).unwrap()
}

impl Subject for Sled {
    type Store = SledStore;

    async fn fresh(&self) -> SledStore {
        let number = self.stores.fetch_add(1, Ordering::Relaxed);
        open(self.directory.path().join(number.to_string()))
    }

    async fn reopen(&self, store: SledStore) -> SledStore {
        let path = store.path().to_owned();
        drop(store);
        open(path)
    }

    async fn damage(&self, store: SledStore, id: &ExecutionId) -> SledStore {
        let path = store.path().to_owned();
        store.close().await.unwrap();
        drop(store);
        let tree = raw::tree(&path);
        let key = format!("h{id}");
        let mut value = tree
            .get(&key)
            .unwrap()
            .expect("the execution is there")
            .to_vec();
        let middle = value.len() / 2;
        value[middle] ^= 0x10;
        tree.insert(&key, value).unwrap();
        tree.flush().unwrap();
        drop(tree);
        open(path)
    }
}

fn extent() -> Extent {
    match std::env::var("SKAIL_EXTENT").as_deref() {
        Ok("long") => Extent::Long,
        _ => Extent::Quick,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_memory_store_keeps_the_contract() {
    conformance::run_all(&Memory, extent()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sled_store_keeps_the_contract() {
    conformance::run_all(&Sled::new(), extent()).await;
}
