//! A process is killed while it rewrites a store, or its disk fails; and what must be on disk when.
#![allow(
    unsafe_code,
    reason = "the test stands between the store and the C library"
)]

use std::collections::BTreeSet;
use std::ffi::c_int;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use skail_runtime::store::SledStore;

use super::disk::calls::{self, Call, Observer};
use super::disk::child::{self, say, variable};
use super::{contents, only_one_tree, rewrite, used};

/// Every call that a rewriting makes, one after the other: the next process opens the store, or rewrites
/// it, and finds everything.
#[test]
fn killed_at_any_call_it_keeps_everything() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let found = used(&path, 300);
    let mut call = 0;
    loop {
        call += 1;
        let said = rewriting(&path, "die", call);
        if call % 2 == 0 {
            rewrite(&path);
            only_one_tree(&path);
        }
        assert_eq!(contents(&path), found, "killed at call {call}");
        only_one_tree(&path);
        if said.is_some() {
            break;
        }
    }
    println!("a rewriting makes {call} calls or fewer");
    assert!(call > 30);
}

/// Whichever write or sync finds the disk full or broken: it says so, and the store is as it was.
#[test]
fn a_failing_disk_harms_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let found = used(&path, 300);
    for kind in ["full", "broken"] {
        let mut refused = 0;
        for call in 1.. {
            let said = rewriting(&path, kind, call).expect("it says how it went");
            assert_eq!(contents(&path), found, "{kind} at call {call}");
            only_one_tree(&path);
            if said == "rewritten" {
                break;
            }
            assert!(
                said.contains("disk has room") || said.contains("cannot be"),
                "{kind} at call {call}: {said}"
            );
            refused += 1;
        }
        assert!(refused > 2, "{kind}: only {refused}");
    }
}

/// The new tree is durable before the old one loses its name, each rename before the next, and nothing of
/// the old one is removed before that.
#[test]
fn the_copy_is_durable_before_it_takes_its_place() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap().join("store");
    used(&path, 300);
    let variables = [
        ("SKAIL_REWRITES", path.display().to_string()),
        ("SKAIL_HOW", "log".to_owned()),
        ("SKAIL_AT", "0".to_owned()),
    ];
    let mut process = child::start("trouble::rewrites", &variables);
    let mut log = Vec::new();
    while let Some(line) = process.line() {
        log.push(line.replace(&*path.display().to_string(), ""));
    }
    assert!(process.end());
    let place = |wanted: &str| {
        let place = log.iter().position(|line| line == wanted);
        place.unwrap_or_else(|| panic!("no `{wanted}` in {log:#?}"))
    };
    let moved_away = place("rename /sled /sled.old");
    let moved_in = place("rename /sled.new /sled");
    let synced_between = |from: usize, to: usize| log[from..to].iter().any(|line| line == "sync ");
    assert!(moved_away < moved_in && synced_between(moved_away, moved_in));
    let removed = moved_in
        + log[moved_in..]
            .iter()
            .position(|line| line == "entry")
            .unwrap();
    assert!(synced_between(moved_in, removed), "{log:#?}");
    // Everything in the new tree, its names, and its own name.
    let mut unsynced = BTreeSet::new();
    for line in &log[..moved_away] {
        match line.split_once(' ') {
            Some(("write", file)) if file.starts_with("/sled.new/") => {
                unsynced.insert(file.to_owned());
                unsynced.insert("/sled.new".to_owned());
            }
            Some(("sync", file)) => {
                unsynced.remove(file);
            }
            _ => {}
        }
    }
    assert_eq!(unsynced, BTreeSet::new(), "{log:#?}");
    let last_write = log
        .iter()
        .rposition(|line| line.starts_with("write /sled.new"));
    assert!(synced_between(last_write.unwrap(), moved_away));
}

/// Lets a process rewrite the store. What it said, if it lived.
fn rewriting(path: &Path, how: &str, at: u32) -> Option<String> {
    let variables = [
        ("SKAIL_REWRITES", path.display().to_string()),
        ("SKAIL_HOW", how.to_owned()),
        ("SKAIL_AT", at.to_string()),
    ];
    let mut process = child::start("trouble::rewrites", &variables);
    let said = process.line();
    assert_eq!(process.end(), said.is_some(), "{how} at {at}");
    said
}

/// What is done about the calls of a rewriting.
struct Trouble {
    how: String,
    left: AtomicI64,
    log: Arc<Mutex<Vec<String>>>,
}

impl Trouble {
    fn note(&self, line: String) {
        self.log.lock().unwrap().push(line);
    }
}

impl Observer for Trouble {
    fn before(&self, call: Call<'_>) -> Option<isize> {
        let error = match (&*self.how, call) {
            ("full", Call::Write { .. } | Call::Truncate { .. }) => libc::ENOSPC,
            ("broken", Call::Sync { .. }) => libc::EIO,
            ("die", _) => 0,
            _ => return None,
        };
        let left = self.left.fetch_sub(1, Ordering::SeqCst);
        if error != 0 {
            if left > 1 {
                return None;
            }
            unsafe { *libc::__errno_location() = error };
            return Some(-1);
        }
        if left != 1 {
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

    fn after(&self, call: Call<'_>) {
        if self.how != "log" {
            return;
        }
        match call {
            Call::Write { fd, .. } | Call::Truncate { fd, .. } => {
                self.note(format!("write {}", name(fd).display()));
            }
            Call::Sync { fd } => self.note(format!("sync {}", name(fd).display())),
            Call::Rename { from, to } => {
                let (from, to) = (from.to_str().unwrap(), to.to_str().unwrap());
                self.note(format!("rename {from} {to}"));
            }
            Call::Entry => self.note("entry".to_owned()),
        }
    }
}

fn name(fd: c_int) -> PathBuf {
    fs::read_link(format!("/proc/self/fd/{fd}")).unwrap_or_default()
}

/// What the other processes run; as a test of its own it does nothing.
#[test]
fn rewrites() {
    let Some(path) = variable("SKAIL_REWRITES") else {
        return;
    };
    let log = Arc::new(Mutex::new(Vec::new()));
    calls::observe(Trouble {
        how: variable("SKAIL_HOW").unwrap(),
        left: AtomicI64::new(variable("SKAIL_AT").unwrap().parse().unwrap()),
        log: Arc::clone(&log),
    });
    let result = SledStore::options().rewrite(path);
    for line in std::mem::take(&mut *log.lock().unwrap()) {
        say(&line);
    }
    match result {
        Ok(_) => say("rewritten"),
        Err(error) => say(&error.to_string()),
    }
}
