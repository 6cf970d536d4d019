//! A real process, a real store on disk, a real `kill -9` inside a body.
//!
//! The parent runs this test program again as the process that is killed: [`one_life`] does nothing unless
//! it was started so.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use skail_runtime::FailureKind;
use skail_runtime::clock::SystemClock;
use skail_runtime::prelude::*;
use skail_runtime::store::SledStore;

use super::support::Bench;

const HOME: &str = "SKAIL_TEST_HOME";

/// Where this life keeps its store, and what the bodies did.
fn home() -> Option<PathBuf> {
    std::env::var_os(HOME).map(PathBuf::from)
}

/// Writes down that a body began, and tells the parent, who may kill this process for it.
fn begin(name: &str) -> anyhow::Result<()> {
    let home = home().expect("bodies run in a life only");
    let began = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(home.join("began"));
    // One write: others write at the same time.
    began?.write_all(format!("{name}\n").as_bytes())?;
    writeln!(std::io::stdout(), "begins {name}")?;
    Ok(())
}

#[skail_command(retry_count = 0)]
async fn charges_for_real() -> anyhow::Result<()> {
    begin("charge")?;
    std::future::pending().await
}

#[skail_command(retry_count = 2, backoff(base = "1ms", cap = "1ms"))]
async fn is_poison() -> anyhow::Result<()> {
    begin("poison")?;
    std::future::pending().await
}

#[skail_command]
async fn is_harmless() -> anyhow::Result<u32> {
    begin("harmless")?;
    Ok(7)
}

#[skail_function]
async fn charges_once() -> anyhow::Result<FailureKind> {
    Ok(charges_for_real().await.expect_err("it never ends").kind())
}

type Seen = (FailureKind, u32);

#[skail_function]
async fn swallows_poison() -> anyhow::Result<Seen> {
    let error = is_poison().await.expect_err("it never ends");
    Ok((error.kind(), error.attempts()))
}

#[skail_function]
async fn is_unharmed() -> anyhow::Result<u32> {
    Ok(is_harmless().await? + is_harmless().await?)
}

/// What a life does: it starts everything under fixed ids, waits for all of it, and tells the parent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_life() {
    let Some(home) = home() else { return };
    let store = SledStore::open(home.join("store")).unwrap();
    let builder = Bench::new().builder().clock(Arc::new(SystemClock));
    let skail = builder.store(store).start().await.unwrap();
    let mut harmless = Vec::new();
    for number in 0..5 {
        let start = skail.start(is_unharmed()).id(format!("harmless {number}"));
        harmless.push(start.await.unwrap());
    }
    let told = if home.join("poisoned").exists() {
        let poisoned = skail.start(swallows_poison()).id("poison").await.unwrap();
        let (kind, attempts) = poisoned.result().await.unwrap();
        format!("{kind} {attempts}")
    } else {
        let charged = skail.start(charges_once()).id("charge").await.unwrap();
        charged.result().await.unwrap().to_string()
    };
    for harmless in harmless {
        assert_eq!(harmless.result().await.unwrap(), 14);
    }
    skail.shutdown().await.unwrap();
    writeln!(std::io::stdout(), "ended {told}").unwrap();
}

/// Lives once: until the end, or until a body of this name begins, where it is killed. Gives what the life
/// came to, if it came to an end.
fn live(home: &Path, dies_in: &str) -> Option<String> {
    let mut life = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "interrupted::one_life", "--nocapture"])
        .env(HOME, home)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(life.stdout.take().unwrap()).lines();
    let dies = format!("begins {dies_in}");
    let ended = lines.find_map(|line| {
        let line = line.unwrap();
        if line.ends_with(&dies) {
            // SIGKILL: no destructor runs, nothing is flushed.
            life.kill().unwrap();
            return Some(None);
        }
        let (_, ended) = line.split_once("ended ")?;
        Some(Some(ended.to_owned()))
    });
    let status = life.wait().unwrap();
    let ended =
        ended.unwrap_or_else(|| panic!("this life neither ended nor came to {dies_in}: {status}"));
    assert_eq!(ended.is_some(), status.success(), "{status}");
    ended
}

fn began(home: &Path, name: &str) -> usize {
    let began = fs::read_to_string(home.join("began")).unwrap();
    began.lines().filter(|line| *line == name).count()
}

#[test]
fn after_a_kill_inside_a_body_of_retry_count_0_it_is_interrupted_and_not_run_again() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(live(home.path(), "charge"), None);
    let end = live(home.path(), "charge");
    assert_eq!(end.as_deref(), Some("interrupted"));
    assert_eq!(began(home.path(), "charge"), 1);
    // A third process has the result from the record.
    assert_eq!(live(home.path(), "charge"), end);
    assert_eq!(began(home.path(), "charge"), 1);
}

#[test]
fn a_command_that_kills_its_process_each_time_ends_and_the_others_complete() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("poisoned"), "").unwrap();
    let mut deaths = 0;
    let end = loop {
        match live(home.path(), "poison") {
            Some(end) => break end,
            None => deaths += 1,
        }
        assert!(deaths <= 4, "it kills its process for ever");
    };
    assert_eq!((end.as_str(), deaths), ("interrupted 3", 2 + 2));
    assert_eq!(began(home.path(), "poison"), 2 + 2);
    // At least once for each of the two steps of five; a few more, where a kill fell between.
    assert!(began(home.path(), "harmless") >= 5 * 2);
}
