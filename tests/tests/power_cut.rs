//! The power fails, in simulation: at random moments the disk keeps what was synced and some of what was
//! not. Every such image opens, and holds everything that was acknowledged.
//!
//! The program sees every write and every sync of its own store, so it knows which bytes are covered by a
//! sync that has returned. Of the later ones an image keeps none, a random half of the 4 KiB pages, only
//! the newer half, or all. It is a simulation: it takes `fdatasync` at its word, and only pages of the
//! tree's log and of the side file are lost.
//!
//! Set `SKAIL_CUTS` for more than 50 cuts.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what is wrong ends the test, in its helpers too"
)]

mod disk;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};

use disk::calls;
use disk::child::{self, Running, say, variable};
use disk::follow::{DISKS, Disk, Follow, KEEPS, Keep};
use disk::load::{self, Listener};
use disk::model::Model;
use skail_runtime::store::SledStore;

/// Hears what is acknowledged, and wakes who waits for enough of it.
#[derive(Default)]
struct Heard {
    model: Mutex<(Model, u64)>,
    more: Condvar,
}

impl Listener for Heard {
    fn tried(&self, id: &str, length: u64) {
        self.model.lock().unwrap().0.tried(id, length);
    }

    fn acknowledged(&self, id: &str, length: u64) {
        let mut heard = self.model.lock().unwrap();
        heard.0.acknowledged(id, length);
        heard.1 += 1;
        self.more.notify_all();
    }
}

impl Heard {
    /// Waits until this much was acknowledged, and says what.
    fn at(&self, count: u64) -> Model {
        let mut heard = self.model.lock().unwrap();
        while heard.1 < count {
            heard = self.more.wait(heard).unwrap();
        }
        heard.0.clone()
    }

    /// All that was tried by now.
    fn tried_by_now(&self, model: &mut Model) {
        model.take_tried_of(&self.model.lock().unwrap().0);
    }
}

#[test]
fn an_image_of_any_moment_holds_what_was_acknowledged() {
    let cuts: u64 = variable("SKAIL_CUTS").map_or(50, |cuts| cuts.parse().unwrap());
    let lying = variable("SKAIL_LYING_DISK").is_some();
    calls::observe(Follow { lying });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let mut random = fastrand::Rng::with_seed(11);
    let (mut images, mut bad) = (0, Vec::new());
    // Small values in small segments, which are moved and used again all the time; and all sizes.
    for (part, segment) in [(0, 128 << 10), (1, 512 << 10)] {
        let mut done = 0;
        while done < cuts / 2 {
            let directory = tempfile::tempdir().unwrap();
            // The inodes of files that are gone are given out again.
            DISKS.lock().unwrap().clear();
            let sessions = Sessions {
                store: directory.path().join("store"),
                images: directory.path().join("images"),
                names: if part == 0 { "s" } else { "all" },
                segment,
            };
            for session in 0..2 {
                let these = 5.min(cuts / 2 - done);
                let (made, wrong) = sessions.run(&runtime, session, these, &mut random);
                images += made;
                bad.extend(wrong);
                done += these;
            }
        }
    }
    println!("{images} images, {} bad", bad.len());
    assert!(bad.is_empty(), "{bad:#?}");
}

struct Sessions {
    store: PathBuf,
    images: PathBuf,
    names: &'static str,
    segment: usize,
}

impl Sessions {
    /// Opens the store, works on it, and cuts the power in simulation now and then. Returns the number of
    /// images and what was wrong with some.
    fn run(
        &self,
        runtime: &tokio::runtime::Runtime,
        session: u32,
        cuts: u64,
        random: &mut fastrand::Rng,
    ) -> (u32, Vec<String>) {
        let options = SledStore::options()
            .cache_capacity(16 << 20)
            .segment_size(self.segment);
        let store = Arc::new(options.open(&self.store).unwrap());
        let heard = Arc::new(Heard::default());
        let found = runtime.block_on(load::read_back(&store)).unwrap();
        heard.model.lock().unwrap().0.settle(&found);
        let (mut images, mut bad) = (0, Vec::new());
        for cut in 0..cuts {
            let width = [8, 48, 300][random.usize(0..3)];
            let commits = random.u64(100..500);
            let working = runtime.spawn({
                let (store, heard) = (Arc::clone(&store), Arc::clone(&heard));
                let round = format!("{}{session}-{cut}", self.names);
                async move { load::run(&store, &heard, &round, width, commits).await }
            });
            // Somewhere in the middle of the work, which goes on meanwhile.
            let mut model = heard.at(random.u64(1..commits));
            let disks = self.cut();
            heard.tried_by_now(&mut model);
            runtime.block_on(working).unwrap();
            let looks =
                KEEPS.map(|keep| (keep, look(&self.image(&disks, keep, random), self.segment)));
            for (keep, look) in looks {
                images += 1;
                if let Err(wrong) = answer(look).and_then(|found| model.check(&found)) {
                    bad.push(format!(
                        "segment {}, cut {cut}, {keep:?}: {wrong}",
                        self.segment
                    ));
                }
            }
            heard.model.lock().unwrap().1 = 0;
        }
        let blobs = std::fs::read_dir(self.store.join("sled/blobs")).map_or(0, Iterator::count);
        assert_eq!(blobs, 0, "sled took to files of its own");
        (images, bad)
    }

    /// What the disk holds now, of this store's files.
    fn cut(&self) -> Vec<(PathBuf, Disk)> {
        let disks = DISKS.lock().unwrap();
        let ours = disks
            .values()
            .filter(|(path, _)| path.starts_with(&self.store));
        ours.cloned().collect()
    }

    /// Makes an image of the store, and says where.
    fn image(&self, disks: &[(PathBuf, Disk)], keep: Keep, random: &mut fastrand::Rng) -> PathBuf {
        let image = self.images.join(format!("{keep:?}"));
        let _ = std::fs::remove_dir_all(&image);
        copy(&self.store, &image);
        for (path, disk) in disks {
            let path = image.join(path.strip_prefix(&self.store).unwrap());
            std::fs::write(path, disk.image(keep, random)).unwrap();
        }
        image
    }
}

/// Copies what does not change while a store is open.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else if entry.file_name() != "db" {
            std::fs::copy(&from, &to).unwrap();
        }
    }
}

/// Lets a fresh process open an image.
fn look(image: &Path, segment: usize) -> Running {
    let variables = [
        ("SKAIL_IMAGE", image.display().to_string()),
        ("SKAIL_SEGMENT", segment.to_string()),
    ];
    child::start("opens_an_image", &variables)
}

/// What the process has found in its image.
fn answer(mut process: Running) -> Result<Vec<(String, u64)>, String> {
    let mut found = Vec::new();
    while let Some(line) = process.line() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["found", id, length] => found.push((id.to_owned(), length.parse().unwrap())),
            ["opened"] => {
                assert!(process.end());
                return Ok(found);
            }
            _ => return Err(line),
        }
    }
    Err("the process that opened it died".to_owned())
}

/// What the fresh processes run; as a test of its own it does nothing.
#[tokio::test]
async fn opens_an_image() {
    let Some(image) = variable("SKAIL_IMAGE") else {
        return;
    };
    let segment = variable("SKAIL_SEGMENT").unwrap().parse().unwrap();
    let store = match SledStore::options().segment_size(segment).open(image) {
        Ok(store) => store,
        Err(error) => return say(&error.to_string()),
    };
    let found = match load::read_back(&store).await {
        Ok(found) => found,
        Err(wrong) => return say(&wrong),
    };
    if let Err(wrong) = load::all_claimable(&store, &found).await {
        return say(&wrong);
    }
    for (id, length) in &found {
        say(&format!("found {id} {length}"));
    }
    say("opened");
}
