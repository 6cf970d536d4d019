//! Rules about what code may say: time, tasks, `unsafe`, leftovers, words that do not belong.

use super::report;
use super::source::{Source, all, rust, words};

/// The packages that users depend on.
const LIBRARIES: [&str; 3] = ["skail-macros", "skail-monitor", "skail-runtime"];

/// Every place in the shipped code of `sources` where one of `wanted` stands.
fn places(sources: &[Source], wanted: &[&str]) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for source in sources {
        let code = source.shipped();
        for word in wanted {
            for at in words(&code, word) {
                found.push((source.path.clone(), source.place(at), (*word).to_owned()));
            }
        }
    }
    found
}

fn runtime() -> Vec<Source> {
    let mut sources = rust();
    sources.retain(|source| source.is_of("skail-runtime"));
    sources
}

#[test]
fn only_the_clock_reads_time() {
    let wanted = ["SystemTime::now", "Instant::now", "UNIX_EPOCH"];
    let problems: Vec<String> = places(&runtime(), &wanted)
        .into_iter()
        .filter(|(path, ..)| path != "skail-runtime/src/clock.rs")
        .map(|(_, place, word)| {
            format!("{place}: `{word}`: take a `Timestamp`, or ask the `Clock` that tests control")
        })
        .collect();
    report("Only clock.rs reads the machine's clock.", &problems);
}

#[test]
fn only_the_clock_sleeps() {
    let wanted = [
        "tokio::time",
        "thread::sleep",
        "park_timeout",
        "recv_timeout",
        "wait_timeout",
    ];
    let may = |path: &str| {
        path == "skail-runtime/src/clock.rs"
            // A clock too: it jumps only when real time shows that nobody is on his way to work.
            || path == "skail-runtime/src/testing/clock.rs"
            // It watches threads that are stuck in real time, whatever a clock says.
            || path == "skail-runtime/src/engine/watchdog.rs"
            // Its one thread rests between groups of commits, and an opening waits for a lock to be free:
            // waits for a disk, which no test needs to control.
            || path.starts_with("skail-runtime/src/store/sled/")
    };
    let problems: Vec<String> = places(&runtime(), &wanted)
        .into_iter()
        .filter(|(path, ..)| !may(path))
        .map(|(_, place, word)| {
            format!("{place}: `{word}`: wait with `Clock::sleep_until`, which tests control")
        })
        .collect();
    report("Waiting goes through the clock.", &problems);
}

#[test]
fn only_the_engine_spawns() {
    let wanted = [
        "tokio::spawn",
        "task::spawn",
        "spawn_blocking",
        "spawn_local",
        "JoinSet",
        "thread::spawn",
        "thread::Builder",
    ];
    let may = |path: &str| {
        path.starts_with("skail-runtime/src/engine/")
            // The handle owns the engine's own task.
            || path == "skail-runtime/src/skail/builder.rs"
            // The one writer of a sled store is a thread.
            || path.starts_with("skail-runtime/src/store/sled/")
    };
    let problems: Vec<String> = places(&runtime(), &wanted)
        .into_iter()
        .filter(|(path, ..)| !may(path))
        .map(|(_, place, word)| {
            format!("{place}: `{word}`: let the engine run it, which keeps the handle")
        })
        .collect();
    report("Only the engine spawns.", &problems);
}

#[test]
fn unsafe_code_is_in_one_file() {
    let mut sources = rust();
    sources.retain(|source| source.path.contains("/src/"));
    let problems: Vec<String> = places(&sources, &["unsafe"])
        .into_iter()
        .filter(|(path, ..)| path != "skail-runtime/src/store/sled/sync.rs")
        .map(|(_, place, _)| {
            format!("{place}: there is a safe way, or it belongs beside the replaced system call")
        })
        .collect();
    report(
        "Outside of tests, unsafe code is in the sled store's replaced system call only.",
        &problems,
    );
}

#[test]
fn library_code_has_no_leftovers() {
    let mut sources = rust();
    sources.retain(|source| LIBRARIES.iter().any(|library| source.is_of(library)));
    let wanted = [
        "todo!",
        "unimplemented!",
        "dbg!",
        "println!",
        "eprintln!",
        ".unwrap()",
        "panic!",
    ];
    let problems: Vec<String> = places(&sources, &wanted)
        .into_iter()
        .map(|(_, place, word)| {
            format!("{place}: `{word}`: return an error, or say with `expect` why it cannot be")
        })
        .collect();
    report("A library neither panics on purpose nor prints.", &problems);
}

#[test]
fn no_test_is_ignored() {
    let mut problems = Vec::new();
    for source in rust() {
        let code = source.code();
        for at in code.match_indices("#[ignore").map(|(at, _)| at) {
            problems.push(format!("{}: run it always, or delete it", source.place(at)));
        }
    }
    report("Every test runs.", &problems);
}

/// Folders at the top of a machine's file system that belong to one machine or one person. They are
/// put together here, so that this file keeps its own rule.
const MACHINE: [&str; 9] = [
    "home",
    "root",
    "work",
    "Users",
    "mnt",
    "media",
    "opt",
    "srv",
    "workspace",
];

/// Hosts of package registries, in two halves for the same reason.
const REGISTRIES: [(&str, &str); 4] = [
    ("crates", "io"),
    ("npmjs", "org"),
    ("pypi", "org"),
    ("proxy.golang", "org"),
];

#[test]
fn no_word_is_of_one_machine() {
    let mut problems = Vec::new();
    for source in all() {
        // Cargo writes its registry into the lock file.
        if source.path == "Cargo.lock" {
            continue;
        }
        let lower = source.text.to_lowercase();
        for (one, other) in REGISTRIES {
            let host = format!("{one}.{other}");
            if let Some(at) = lower.find(&host) {
                problems.push(format!(
                    "{}: a registry's host: say `cargo add`, or leave it out",
                    source.place(at)
                ));
            }
        }
        for folder in MACHINE {
            let path = format!("/{folder}/");
            let begins = |at: &usize| {
                let before = source.text[..*at].chars().next_back();
                before.is_none_or(|c| !(c.is_alphanumeric() || "._-/}$*>".contains(c)))
            };
            let mut found = source.text.match_indices(&path).map(|(at, _)| at);
            if let Some(at) = found.find(begins) {
                problems.push(format!(
                    "{}: a path of one machine: make it relative",
                    source.place(at)
                ));
            }
        }
    }
    report(
        "Nothing here depends on the machine that it was written on.",
        &problems,
    );
}
