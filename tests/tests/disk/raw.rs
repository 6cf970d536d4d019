//! A store's tree, opened behind the store's back.

use std::path::Path;
use std::time::Duration;

/// The tree of the store in this directory, which nobody has open. sled lets go of its files a moment
/// after its handle is dropped, so a lock that is still held is waited for, up to a minute.
pub(crate) fn tree(store: &Path) -> sled::Db {
    for _ in 0..6_000 {
        match sled::open(store.join("sled")) {
            Ok(tree) => return tree,
            Err(sled::Error::Io(error)) if error.to_string().contains("lock") => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(error) => panic!("{}: {error}", store.display()),
        }
    }
    panic!("{} is held by somebody", store.display())
}
