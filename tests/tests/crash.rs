//! Processes are killed while they commit and while they open, a hundred times over one store: nothing
//! that was acknowledged is lost, nothing is half there, and it opens every time.
//!
//! Set `SKAIL_KILLS` for more of them.
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
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use disk::calls::{self, Call, Observer};
use disk::child::{self, Running, say, variable};
use disk::load::{self, Listener};
use disk::model::Model;
use skail_runtime::ExecutionId;
use skail_runtime::store::{SledStore, Store as _};

/// How many executions commit side by side.
const WIDTH: usize = 24;

/// Where a process is killed.
#[derive(Debug, Clone, Copy)]
enum Kill {
    /// By itself, at this call that changes the disk, counted from the start: in opening, or soon after.
    Early(i64),
    /// By itself, at this call, if the opening makes so many.
    InOpening(i64),
    /// By itself, at this call, counted from when the store is open.
    InCommits(i64),
    /// By its parent, after this many acknowledgements.
    FromOutside(u32),
    /// It looks and leaves.
    Never,
}

#[test]
fn a_hundred_kills_lose_nothing() {
    let kills: u32 = variable("SKAIL_KILLS").map_or(100, |kills| kills.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("store");
    let mut model = Model::default();
    let mut random = fastrand::Rng::with_seed(7);
    let (mut acknowledged, mut in_opening) = (0, 0);
    for round in 0..kills {
        let kill = match round % 4 {
            0 | 1 => Kill::Early(random.i64(1..60)),
            2 => Kill::InCommits(random.i64(1..400)),
            _ => Kill::FromOutside(random.u32(1..400)),
        };
        match live_and_die(&store, round, kill, &mut model) {
            Some(commits) => acknowledged += commits,
            None => in_opening += 1,
        }
    }
    let survivor = start(&store, kills, Kill::Never);
    assert!(
        opened(survivor, &mut model)
            .expect("nobody killed it")
            .end()
    );
    println!(
        "{kills} kills, {in_opening} of them in openings, {acknowledged} commits acknowledged"
    );
    assert!(in_opening > kills / 8, "only {in_opening} died in opening");
    assert!(
        acknowledged > kills * 10,
        "only {acknowledged} commits were made"
    );
}

/// Every call that an opening makes, one after the other, on a directory that is not there yet and on a
/// store that somebody left without a word.
#[test]
fn an_opening_killed_at_any_call_is_done_again() {
    for fresh in [true, false] {
        let mut model = Model::default();
        let directory = tempfile::tempdir().unwrap();
        let store = directory.path().join("store");
        let mut call = 0;
        loop {
            call += 1;
            if fresh {
                let _ = std::fs::remove_dir_all(&store);
            } else if call == 1 {
                live_and_die(&store, 0, Kill::FromOutside(50), &mut model);
            }
            let survived = opened(start(&store, 0, Kill::InOpening(call)), &mut model);
            let done = survived.is_some();
            if let Some(survivor) = survived {
                assert!(survivor.end());
            }
            let next = opened(start(&store, 0, Kill::Never), &mut model);
            assert!(next.expect("nobody killed it").end(), "after call {call}");
            if done {
                break;
            }
        }
        println!("an opening makes {call} calls or fewer");
        assert!(call > 10);
    }
}

/// One life of a process. What it finds is compared, what it gets acknowledged noted. Returns how much
/// was acknowledged, or `None` if it died before it had the store open.
fn live_and_die(store: &Path, round: u32, kill: Kill, model: &mut Model) -> Option<u32> {
    let Some(mut process) = opened(start(store, round, kill), model) else {
        assert!(
            matches!(kill, Kill::Early(_)),
            "round {round}: died in opening, {kill:?}"
        );
        return None;
    };
    let mut acknowledged = 0;
    while let Some(line) = process.line() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["try", id, length] => model.tried(id, length.parse().unwrap()),
            ["delete", id] => model.deleting(id),
            ["ack", id, length] => {
                model.acknowledged(id, length.parse().unwrap());
                acknowledged += 1;
                if matches!(kill, Kill::FromOutside(after) if after == acknowledged) {
                    process.kill();
                }
            }
            _ => panic!("round {round}: {line}"),
        }
    }
    assert!(!process.end(), "round {round}: {kill:?} did not kill it");
    Some(acknowledged)
}

fn start(store: &Path, round: u32, kill: Kill) -> Running {
    let (early, late) = match kill {
        Kill::Early(call) | Kill::InOpening(call) => (call, 0),
        Kill::InCommits(call) => (0, call),
        Kill::FromOutside(_) | Kill::Never => (0, 0),
    };
    let commits = match kill {
        Kill::Never | Kill::InOpening(_) => 0,
        _ => 100_000,
    };
    let variables = [
        ("SKAIL_STORE", store.display().to_string()),
        ("SKAIL_ROUND", round.to_string()),
        ("SKAIL_DIE_EARLY", early.to_string()),
        ("SKAIL_DIE_LATE", late.to_string()),
        ("SKAIL_COMMITS", commits.to_string()),
        (
            "SKAIL_OPENING_ONLY",
            matches!(kill, Kill::InOpening(_)).to_string(),
        ),
    ];
    child::start("process", &variables)
}

/// Follows a process until it has opened the store and read it back; `None` if it dies before.
fn opened(mut process: Running, model: &mut Model) -> Option<Running> {
    let mut found = Vec::new();
    loop {
        let line = process.line()?;
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["found", id, length] => found.push((id.to_owned(), length.parse().unwrap())),
            ["opened"] => break,
            _ => panic!("the store is not as it should be: {line}"),
        }
    }
    if let Err(lost) = model.check(&found) {
        panic!("{lost}");
    }
    model.settle(&found);
    Some(process)
}

/// Dies at a call that changes the disk.
struct Death {
    calls: Arc<AtomicI64>,
}

impl Observer for Death {
    fn before(&self, call: Call<'_>) -> Option<isize> {
        // A process that nobody wants to die counts down from 0 and never gets there again.
        if self.calls.fetch_sub(1, Ordering::SeqCst) != 1 {
            return None;
        }
        if let Call::Write { fd, offset, bytes } = call {
            // Killed in the middle of a write.
            calls::write_unseen(fd, &bytes[..bytes.len() / 2], offset);
        }
        unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
        loop {
            std::thread::park();
        }
    }
}

struct Said;

impl Listener for Said {
    fn tried(&self, id: &str, length: u64) {
        say(&format!("try {id} {length}"));
    }

    fn acknowledged(&self, id: &str, length: u64) {
        say(&format!("ack {id} {length}"));
    }
}

/// What the killed processes run; as a test of its own it does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process() {
    let Some(path) = variable("SKAIL_STORE") else {
        return;
    };
    let number = |name| variable(name).unwrap().parse::<i64>().unwrap();
    let calls = Arc::new(AtomicI64::new(number("SKAIL_DIE_EARLY")));
    calls::observe(Death {
        calls: Arc::clone(&calls),
    });
    let store = match SledStore::open(path) {
        Ok(store) => Arc::new(store),
        Err(error) => return say(&format!("cannot open: {error}")),
    };
    if variable("SKAIL_OPENING_ONLY").unwrap() == "true" {
        calls.store(0, Ordering::SeqCst);
    }
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
    let late = number("SKAIL_DIE_LATE");
    if late > 0 {
        calls.store(late, Ordering::SeqCst);
    }
    let commits = number("SKAIL_COMMITS").unsigned_abs();
    if commits == 0 {
        return;
    }
    let mut done: Vec<_> = found
        .into_iter()
        .filter(|(_, length)| *length > load::LENGTH)
        .collect();
    // Some stay, so that the store holds more than is worked on.
    done.truncate(done.len().saturating_sub(20));
    for (id, _) in &done {
        say(&format!("delete {id}"));
    }
    let ids = done
        .iter()
        .map(|(id, _)| ExecutionId::new(id).unwrap())
        .collect();
    if store.delete(ids).await.is_ok() {
        let round = number("SKAIL_ROUND").to_string();
        load::run(&store, &Arc::new(Said), &round, WIDTH, commits).await;
    }
}
