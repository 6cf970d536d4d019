//! A crash before and after every single commit of functions that do what users' functions do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use skail_runtime::history::Event;
use skail_runtime::prelude::*;
use skail_runtime::store::{MemoryStore, Store as _};
use skail_runtime::testing::VirtualClock;
use skail_runtime::{ExecutionError, Sequence};
use skail_tests::{CrashPoint, CrashStore, Moment};

/// The outside world: effects by idempotency key, body runs by command, and what an operator can repair.
#[derive(Debug, Clone, Default)]
pub(crate) struct World(Arc<Mutex<Outside>>);

#[derive(Debug, Default)]
struct Outside {
    effects: BTreeMap<String, String>,
    runs: BTreeMap<String, u32>,
    repaired: bool,
    /// What functions were given, by name: once given, it is the same in every run and every life.
    given: BTreeMap<String, String>,
}

impl World {
    /// One more body run of a command; gives their number.
    fn run(&self, command: &str) -> u32 {
        let mut outside = self.0.lock().unwrap();
        let runs = outside.runs.entry(command.to_owned()).or_default();
        *runs += 1;
        *runs
    }

    /// A function was given a value.
    pub(crate) fn given(&self, name: &str, value: impl std::fmt::Debug) {
        let value = format!("{value:?}");
        let mut outside = self.0.lock().unwrap();
        let first = outside
            .given
            .entry(name.to_owned())
            .or_insert_with(|| value.clone());
        assert_eq!(
            *first, value,
            "`{name}` was given once, and another one later"
        );
    }

    /// Whether the running attempt of a function comes after this many.
    pub(crate) fn failed_before(&self, attempts: u32) -> bool {
        self.run("failed attempts") > attempts
    }

    /// An effect under the running command's key: applied twice, it is there once.
    pub(crate) fn apply(&self, effect: &str) {
        self.0
            .lock()
            .unwrap()
            .effects
            .insert(idempotency_key(), effect.to_owned());
    }
}

#[skail_command]
async fn reserve(#[state] world: &World, article: u32) -> anyhow::Result<u32> {
    world.run("reserve");
    world.apply(&format!("reserved {article}"));
    // Later articles answer first.
    for _ in article..8 {
        tokio::task::yield_now().await;
    }
    Ok(article * 10)
}

#[skail_command]
async fn release(#[state] world: &World, article: u32) -> anyhow::Result<()> {
    world.run("release");
    world.apply(&format!("released {article}"));
    Ok(())
}

#[skail_command(retry_count = 2, idempotency_key = "charge-{invoice}")]
async fn charge(#[state] world: &World, invoice: String) -> anyhow::Result<()> {
    world.run("charge");
    anyhow::bail!("the gateway is down for {invoice}")
}

/// Fails for the first seven runs: once all six attempts, and one more.
#[skail_command]
async fn stubborn(#[state] world: &World) -> anyhow::Result<()> {
    anyhow::ensure!(world.run("stubborn") > 7, "not yet");
    world.apply("stubborn");
    Ok(())
}

#[skail_command(retry_count = 1)]
async fn needs_repair(#[state] world: &World) -> anyhow::Result<()> {
    world.run("needs_repair");
    anyhow::ensure!(world.0.lock().unwrap().repaired, "broken");
    world.apply("repaired");
    Ok(())
}

#[skail_command]
async fn never_ends(#[state] world: &World) -> anyhow::Result<()> {
    world.run("never_ends");
    std::future::pending().await
}

#[skail_command(retry_count = 0)]
async fn only_once(#[state] world: &World) -> anyhow::Result<()> {
    world.run("only_once");
    world.apply("only once");
    Ok(())
}

#[skail_function]
async fn joins() -> anyhow::Result<u32> {
    let (a, b, c) = tokio::join!(reserve(1), reserve(2), reserve(3));
    let rest = futures::future::try_join_all((4..8).map(reserve)).await?;
    Ok(a? + b? + c? + rest.iter().sum::<u32>())
}

#[skail_function]
async fn races() -> anyhow::Result<u32> {
    let won = tokio::select! {
        biased;
        _ = never_ends() => 0,
        article = reserve(7) => article?,
        article = reserve(2) => article?,
    };
    Ok(won + reserve(5).await?)
}

#[skail_function]
async fn compensates() -> anyhow::Result<String> {
    let (a, b) = tokio::join!(reserve(1), reserve(2));
    a?;
    b?;
    let outcome = match charge("17".to_owned()).await {
        Ok(()) => "charged",
        Err(error) if error.attempts() == 3 => {
            release(2).await?;
            release(1).await?;
            "released"
        }
        Err(error) => return Err(error.into()),
    };
    Ok(outcome.to_owned())
}

#[skail_function]
async fn is_redelivered() -> anyhow::Result<u32> {
    let article = reserve(1).await?;
    stubborn().await?;
    Ok(article)
}

/// The failure of `charge` was built on, so it stands; the one of `stubborn` is dropped.
#[skail_function]
async fn keeps_what_was_built_on() -> anyhow::Result<String> {
    if charge("18".to_owned()).await.is_err() {
        release(9).await?;
    }
    stubborn().await?;
    Ok("done".to_owned())
}

#[skail_function(retry_count = 1)]
async fn is_resumed() -> anyhow::Result<u32> {
    let (one, other) = tokio::join!(reserve(3), needs_repair());
    other?;
    Ok(one?)
}

#[skail_function]
async fn calls_once() -> anyhow::Result<bool> {
    let before = reserve(1).await?;
    let sure = only_once().await.is_ok();
    reserve(before / 5).await?;
    Ok(sure)
}

/// One life of the process after the other until the execution completes; an operator repairs and
/// resumes what failed.
pub(crate) async fn live<T: serde::de::DeserializeOwned + Send>(
    make: fn() -> FunctionCall<T>,
    crash: Option<CrashPoint>,
) -> (T, World, u64, Vec<Event>) {
    let (mut store, clock, world) = (MemoryStore::new(), VirtualClock::new(), World::default());
    let id = ExecutionId::new("it").unwrap();
    let mut completed = BTreeSet::new();
    for crash in [crash, None] {
        let crashing = CrashStore::new(store.clone(), crash);
        let (crashed, commits) = (crashing.crashed(), crashing.commits());
        let engine = Skail::builder()
            .store(crashing)
            .clock(Arc::new(clock.clone()))
            .seed(3)
            .state(world.clone())
            .state(super::program::World::default())
            .start();
        let skail = engine.await.unwrap();
        let runs_before = world.0.lock().unwrap().runs.clone();
        let result = tokio::select! {
            biased;
            () = crashed => None,
            result = operate(&skail, &world, &id, make) => Some(result),
        };
        skail.kill().await;
        store = store.crash();
        let history = store.history(&id, Sequence(0), usize::MAX).await.unwrap();
        check_runs(&completed, &runs_before, &world.0.lock().unwrap().runs);
        completed = completed_commands(&history);
        if let Some(result) = result {
            return (result, world, commits(), history);
        }
    }
    panic!("the second life has no crash")
}

async fn operate<T: serde::de::DeserializeOwned + Send>(
    skail: &Skail,
    world: &World,
    id: &ExecutionId,
    make: fn() -> FunctionCall<T>,
) -> T {
    let execution = skail.start(make()).id(id).await.unwrap();
    loop {
        match execution.result().await {
            Ok(result) => return result,
            Err(ExecutionError::Failed { .. }) => {
                world.0.lock().unwrap().repaired = true;
                execution.resume().await.unwrap();
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// The commands that are called once in their function and have their result.
fn completed_commands(history: &[Event]) -> BTreeSet<String> {
    let once = ["stubborn", "needs_repair", "only_once"];
    let done = history.iter().filter_map(|event| match event {
        Event::CommandCompleted { step, .. } => Some(step.name.clone()),
        _ => None,
    });
    done.filter(|name| once.contains(&name.as_str())).collect()
}

fn check_runs(
    completed: &BTreeSet<String>,
    before: &BTreeMap<String, u32>,
    after: &BTreeMap<String, u32>,
) {
    for command in completed {
        assert_eq!(
            before.get(command),
            after.get(command),
            "`{command}` was recorded and ran again"
        );
    }
}

/// Crashes before and after every commit, and compares result and effects with a life without a crash.
pub(crate) async fn everywhere<T>(make: fn() -> FunctionCall<T>) -> u64
where
    T: serde::de::DeserializeOwned + Send + PartialEq + std::fmt::Debug,
{
    let (result, world, commits, _) = live(make, None).await;
    let effects = world.0.lock().unwrap().effects.clone();
    for commit in 0..commits {
        for moment in [Moment::Before, Moment::After] {
            let (again, world, ..) = live(make, Some(CrashPoint { commit, moment })).await;
            assert_eq!(again, result, "{moment:?} commit {commit}");
            assert_eq!(
                world.0.lock().unwrap().effects,
                effects,
                "{moment:?} commit {commit}"
            );
        }
    }
    commits
}

#[tokio::test]
async fn joined_steps() {
    assert!(everywhere(joins).await >= 5);
}

#[tokio::test]
async fn raced_steps() {
    // A loser that was aborted live may have got further in another life: only the way counts.
    let (result, ..) = live(races, None).await;
    for commit in 0..4 {
        for moment in [Moment::Before, Moment::After] {
            let (again, _, _, history) = live(races, Some(CrashPoint { commit, moment })).await;
            assert_eq!(again, result, "{moment:?} commit {commit}");
            assert_eq!(result, 120, "{history:#?}");
        }
    }
}

#[tokio::test]
async fn a_failure_that_is_caught_and_compensated() {
    assert_eq!(everywhere(compensates).await, 8);
}

#[tokio::test]
async fn a_failure_that_is_not_caught_and_redelivered() {
    assert!(everywhere(is_redelivered).await >= 10);
}

#[tokio::test]
async fn a_failure_that_was_built_on_stands() {
    everywhere(keeps_what_was_built_on).await;
    let (_, world, _, history) = live(keeps_what_was_built_on, None).await;
    assert_eq!(world.0.lock().unwrap().runs["charge"], 3);
    let dropped: Vec<_> = history
        .iter()
        .filter_map(|event| match event {
            Event::FunctionAttemptFailed { dropped, .. } => Some(dropped.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(dropped, [vec![skail_runtime::Position(2)]]);
}

#[tokio::test]
async fn an_execution_that_failed_and_is_resumed() {
    assert!(everywhere(is_resumed).await >= 7);
}

#[tokio::test]
async fn a_command_that_may_run_only_once() {
    let (sure, _, commits, _) = live(calls_once, None).await;
    assert!(sure);
    for commit in 0..commits {
        for moment in [Moment::Before, Moment::After] {
            let (sure, world, _, history) =
                live(calls_once, Some(CrashPoint { commit, moment })).await;
            let runs = world
                .0
                .lock()
                .unwrap()
                .runs
                .get("only_once")
                .copied()
                .unwrap_or(0);
            assert!(runs <= 1, "{moment:?} commit {commit}: {runs} runs");
            // It is in doubt exactly if the process died between the recorded start and the end.
            let interrupted = history.iter().any(|event| {
                matches!(event, Event::CommandFailed { failure, .. }
                    if failure.kind == FailureKind::Interrupted)
            });
            assert_eq!(sure, !interrupted, "{moment:?} commit {commit}");
        }
    }
}
