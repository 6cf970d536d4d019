//! What can be chosen about a store, and what can be done with its directory.
//!
//! Owns the settings and their defaults. Must never do any of the work.

use std::path::Path;

use super::error::OpenError;
use super::rewrite::{self, Rewritten};
use super::{SledStore, recovery};
use crate::store::Durability;

/// How a [`SledStore`] is opened.
///
/// ```no_run
/// use skail_runtime::store::{Durability, SledStore};
/// let store = SledStore::options()
///     .durability(Durability::Process)
///     .cache_capacity(64 << 20)
///     .open("skail-data")?;
/// # Ok::<(), skail_runtime::store::OpenError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is opened until `open` is called"]
pub struct SledOptions {
    durability: Durability,
    sizes: Sizes,
}

/// What sled is told about space.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) cache_capacity: u64,
    pub(super) segment: usize,
}

impl Default for SledOptions {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            sizes: Sizes {
                cache_capacity: 256 << 20,
                segment: 512 << 10,
            },
        }
    }
}

impl SledOptions {
    /// When a write counts as done; [`Durability::Disk`] unless set.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// How many bytes of records sled keeps in memory, 256 MiB unless set. What the process takes is two
    /// to three times that.
    pub fn cache_capacity(mut self, bytes: u64) -> Self {
        self.sizes.cache_capacity = bytes;
        self
    }

    /// How large the segments of sled's file are. Small ones are used again sooner, which is what a test
    /// of lost power wants to see; values must then be small too.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub fn segment_size(mut self, bytes: usize) -> Self {
        self.sizes.segment = bytes;
        self
    }

    /// Opens the store in a directory, making it if it is not there. Blocks while it reads.
    ///
    /// # Errors
    /// [`OpenError`] if the directory is not a store's, is held by another process, cannot be written, or
    /// has lost what was acknowledged.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<SledStore, OpenError> {
        let path = path.as_ref();
        let opened = recovery::open(path, self.durability, self.sizes)?;
        SledStore::start(path, opened)
    }

    /// Writes the store in a directory afresh, so that it takes no more room than it needs.
    ///
    /// sled's file never becomes smaller by itself: what was deleted leaves holes that later records fill.
    /// This copies every record into a new tree beside the old one, reads the copy back, makes it durable,
    /// and puts it in the old one's place. Until then the store is as it was: after an error, a kill or a
    /// power cut at any time it opens with everything that it held.
    ///
    /// Blocks while it reads and writes, and needs room for the copy. The store must not be open meanwhile.
    /// Records that cannot be read are copied as they are.
    ///
    /// ```no_run
    /// use skail_runtime::store::SledStore;
    /// let rewritten = SledStore::options().rewrite("skail-data")?;
    /// println!("{} bytes became {}", rewritten.size_before, rewritten.size_after);
    /// # Ok::<(), skail_runtime::store::OpenError>(())
    /// ```
    ///
    /// # Errors
    /// [`OpenError::Missing`] if there is no store, [`OpenError::Held`] if it is open, [`OpenError::Io`] if
    /// the disk is full, and whatever an opening would say.
    pub fn rewrite(&self, path: impl AsRef<Path>) -> Result<Rewritten, OpenError> {
        rewrite::rewrite(path.as_ref(), self.durability, self.sizes)
    }
}
