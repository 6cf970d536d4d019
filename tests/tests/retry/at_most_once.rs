//! `retry_count = 0`: a body runs at most once, wherever and however often processes are killed.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicI64, Ordering};

use skail_runtime::FailureKind;
use skail_runtime::clock::SystemClock;
use skail_runtime::prelude::*;
use skail_runtime::store::{Durability, Query, SledStore};
use skail_tests::{CrashPoint, CrashStore, Moment};

use super::bench::Bench;
use super::support::{Keys, soon};

/// Kills of real processes, and of engines inside this one.
const PROCESSES: u32 = 60;
const ENGINES: u32 = 440;

/// Where a real process writes down what its bodies do: a line for each run.
const LOG: &str = "SKAIL_AT_MOST_ONCE_LOG";

/// At this run of a body it stays in it until it is killed; 0 for never.
const DEATH: &str = "SKAIL_AT_MOST_ONCE_DEATH";

/// Which process it is, for the ids of what it starts; the last one starts nothing and ends.
const LIFE: &str = "SKAIL_AT_MOST_ONCE_LIFE";

/// What a body writes that stays until it is killed.
const STAYS: &str = "stays";

/// Runs of bodies that are left until one stays.
static LEFT: AtomicI64 = AtomicI64::new(0);

const STEPS: u32 = 10;

#[skail_command(retry_count = 0)]
async fn runs_at_most_once(#[state] keys: &Keys, step: u32) -> anyhow::Result<()> {
    if let Ok(path) = std::env::var(LOG) {
        // In one write, so that no kill leaves half a line.
        let line = format!("{}\n", idempotency_key());
        let mut log = std::fs::OpenOptions::new().append(true).open(path)?;
        log.write_all(line.as_bytes())?;
        if LEFT.fetch_sub(1, Ordering::SeqCst) == 1 {
            log.write_all(format!("{STAYS}\n").as_bytes())?;
            std::future::pending::<()>().await;
        }
    }
    keys.note(idempotency_key());
    // Something to be killed in.
    for _ in 0..step % 4 {
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Gives how many of its steps ended well and how many were interrupted.
#[skail_function]
async fn takes_its_steps() -> anyhow::Result<(u32, u32)> {
    let (mut well, mut interrupted) = (0, 0);
    for step in 0..STEPS {
        match runs_at_most_once(step).await {
            Ok(()) => well += 1,
            Err(error) if error.kind() == FailureKind::Interrupted => interrupted += 1,
            Err(error) => return Err(error.into()),
        }
    }
    Ok((well, interrupted))
}

/// Checks that the runs are of as many bodies, and gives how many.
fn check(runs: impl IntoIterator<Item = String>) -> usize {
    let mut seen = BTreeSet::new();
    for run in runs {
        assert!(!seen.contains(&run), "the body of {run} ran twice");
        seen.insert(run);
    }
    seen.len()
}

async fn start(skail: &Skail, life: &str, many: u32) -> Vec<Execution<(u32, u32)>> {
    let mut executions = Vec::new();
    for number in 0..many {
        let id = format!("{life}-{number}");
        executions.push(skail.start(takes_its_steps()).id(id).await.unwrap());
    }
    executions
}

/// Waits for all executions; gives how many steps ended well and how many were interrupted.
async fn finish(skail: &Skail) -> (u32, u32) {
    let (mut well, mut interrupted, mut after) = (0, 0, None);
    loop {
        let query = Query {
            limit: 512,
            after,
            ..Query::default()
        };
        let page = skail.list(query).await.unwrap();
        for header in page.headers {
            let execution = skail.execution::<(u32, u32)>(&header.id).await.unwrap();
            let (one, other) = soon("an execution", execution.result()).await.unwrap();
            assert_eq!(one + other, STEPS, "of {}", header.id);
            well += one;
            interrupted += other;
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return (well, interrupted),
        }
    }
}

#[tokio::test]
async fn hundreds_of_killed_engines_run_no_body_twice() {
    let mut bench = Bench::new();
    let mut random = fastrand::Rng::with_seed(11);
    for life in 0..ENGINES {
        let crash = CrashPoint {
            commit: random.u64(0..40),
            moment: [Moment::Before, Moment::After][random.usize(0..2)],
        };
        let store = CrashStore::new(bench.store.clone(), Some(crash));
        let crashed = store.crashed();
        let skail = bench.builder().store(store).start().await.unwrap();
        start(&skail, &life.to_string(), 3).await;
        // Killed at a write, or wherever it is after a while.
        let turns = random.u32(0..400);
        let a_while = async {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            () = crashed => {}
            () = a_while => {}
        }
        skail.kill().await;
        bench.store = bench.store.crash();
    }
    let skail = bench.engine().await;
    let (well, interrupted) = finish(&skail).await;
    println!("{ENGINES} killed engines: {well} steps ended well, {interrupted} were interrupted");
    check(bench.keys.all());
    assert!(interrupted > ENGINES / 4, "the kills were in bodies");
    assert!(well > ENGINES, "and not only there");
}

#[test]
fn scores_of_killed_processes_run_no_body_twice() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    std::fs::write(&log, "").unwrap();
    let mut random = fastrand::Rng::with_seed(5);
    for life in 0..PROCESSES {
        // Every second one while a body is known to run, the others wherever they are.
        let in_body = life % 2 == 0;
        let death = if in_body { random.i64(1..60) } else { 0 };
        let (before, stayed) = written(&log);
        let enough = before + random.usize(0..60);
        let mut process = spawn(directory.path(), &log, &life.to_string(), death);
        loop {
            let (runs, stays) = written(&log);
            if stays > stayed || (!in_body && runs >= enough) {
                break;
            }
            let ended = process.try_wait().unwrap();
            assert!(ended.is_none(), "it ended by itself: {ended:?}");
            std::thread::yield_now();
        }
        process.kill().unwrap();
        assert!(!process.wait().unwrap().success(), "it was killed");
    }
    let last = spawn(directory.path(), &log, "last", 0).wait().unwrap();
    assert!(last.success(), "the last one brings all to its end");
    let text = std::fs::read_to_string(&log).unwrap();
    let runs = text.lines().filter(|line| *line != STAYS);
    let bodies = check(runs.map(str::to_owned));
    println!("{PROCESSES} killed processes, {bodies} bodies");
    assert!(bodies > PROCESSES as usize, "they did something");
}

/// How many runs of bodies stand in the log, and how many of them stayed.
fn written(log: &Path) -> (usize, usize) {
    let text = std::fs::read_to_string(log).unwrap();
    let stays = text.lines().filter(|line| *line == STAYS).count();
    (text.lines().count() - stays, stays)
}

/// Starts this program again, to run nothing but [`process`].
fn spawn(directory: &Path, log: &Path, life: &str, death: i64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "at_most_once::process", "--nocapture"])
        .env(LOG, log)
        .env(DEATH, death.to_string())
        .env(LIFE, life)
        .current_dir(directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What the killed processes run; as a test of its own it does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process() {
    let Ok(life) = std::env::var(LIFE) else {
        return;
    };
    let death: i64 = std::env::var(DEATH).unwrap().parse().unwrap();
    LEFT.store(death, Ordering::SeqCst);
    let store = SledStore::options()
        .durability(Durability::Process)
        .open(PathBuf::from("store"))
        .unwrap();
    let bench = Bench::new();
    let builder = bench.builder().store(store).clock(SystemClock::shared());
    let skail = builder.start().await.unwrap();
    if life == "last" {
        let (well, interrupted) = finish(&skail).await;
        assert!(well > interrupted);
        return skail.shutdown().await.unwrap();
    }
    for round in 0.. {
        for execution in start(&skail, &format!("{life}-{round}"), 4).await {
            soon("an execution", execution.result()).await.unwrap();
        }
    }
}
