//! No command makes more attempts than it may, whatever its attempts come to and wherever processes die.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use skail_runtime::history::Event;
use skail_runtime::prelude::*;
use skail_runtime::retry::{Backoff, Jitter};
use skail_tests::{CrashPoint, CrashStore, Moment};
use tokio::sync::Notify;

use super::bench::Bench;
use super::support::soon;

/// What one run of a body comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Succeeds,
    Fails,
    Refuses,
    Panics,
    Hangs,
    /// The process dies in it.
    Dies,
}

/// What is done outside of any process; for `#[state]`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outside {
    world: Arc<Mutex<World>>,
    death: Arc<Notify>,
}

#[derive(Debug, Default)]
struct World {
    /// What the next runs of each command come to; then they succeed.
    fates: BTreeMap<u32, VecDeque<Fate>>,
    /// The attempt numbers of the runs of each command.
    runs: BTreeMap<u32, Vec<u32>>,
}

#[skail_command(timeout = "1s")]
async fn meets_its_fate(#[state] outside: &Outside, command: u32) -> anyhow::Result<()> {
    let fate = {
        let mut world = outside.world.lock().unwrap();
        let number = attempt().number;
        world.runs.entry(command).or_default().push(number);
        let fates = world.fates.get_mut(&command);
        fates
            .and_then(VecDeque::pop_front)
            .unwrap_or(Fate::Succeeds)
    };
    match fate {
        Fate::Succeeds => Ok(()),
        Fate::Fails => anyhow::bail!("it fails"),
        Fate::Refuses => Err(permanent(anyhow::anyhow!("it refuses"))),
        Fate::Panics => panic!("it panics"),
        Fate::Hangs => std::future::pending().await,
        Fate::Dies => {
            outside.death.notify_one();
            std::future::pending().await
        }
    }
}

/// Calls each command, two at a time; gives how many attempts those made that failed.
#[skail_function(retry_count = 0)]
async fn lives_through_it(retry_counts: Vec<u32>) -> anyhow::Result<Vec<u32>> {
    let second = Duration::from_secs(1);
    let backoff = Backoff::new(second, 3.0, second * 60, Jitter::None)?;
    let call = |(command, retry_count): (u32, u32)| async move {
        let call = meets_its_fate(command);
        let call = call.retry_count(retry_count).backoff(backoff);
        call.await.err().map_or(0, |error| error.attempts())
    };
    let mut attempts = Vec::new();
    let commands: Vec<(u32, u32)> = (0..).zip(retry_counts).collect();
    for pair in commands.chunks(2) {
        let both = pair.iter().copied().map(call);
        attempts.extend(futures::future::join_all(both).await);
    }
    Ok(attempts)
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = prop_oneof![
        1 => Just(Fate::Succeeds),
        4 => Just(Fate::Fails),
        1 => Just(Fate::Refuses),
        2 => Just(Fate::Panics),
        2 => Just(Fate::Hangs),
        3 => Just(Fate::Dies),
    ];
    proptest::collection::vec(fate, 0..10)
}

fn crashes() -> impl Strategy<Value = Vec<Option<CrashPoint>>> {
    let moment = prop_oneof![Just(Moment::Before), Just(Moment::After)];
    let crash = (0..6_u64, moment).prop_map(|(commit, moment)| CrashPoint { commit, moment });
    proptest::collection::vec(proptest::option::weighted(0.7, crash), 0..8)
}

/// One process after the other, each until it dies or the execution has its result. A process dies where
/// its crash point is, or where a body says so.
async fn live(
    bench: &mut Bench,
    crashes: &[Option<CrashPoint>],
    retry_counts: Vec<u32>,
) -> (Vec<u32>, Vec<Event>) {
    let id = ExecutionId::new("it").unwrap();
    for life in 0.. {
        let crash = crashes.get(life).copied().flatten();
        let store = CrashStore::new(bench.store.clone(), crash);
        let crashed = store.crashed();
        let skail = bench.builder().store(store).start().await.unwrap();
        let call = lives_through_it(retry_counts.clone());
        let execution = skail.start(call).id(&id).await.unwrap();
        let result = tokio::select! {
            biased;
            result = soon("a result or a death", execution.result()) => Some(result),
            () = crashed => None,
            () = bench.outside.death.notified() => None,
        };
        if let Some(result) = result {
            let history = execution.history().await.unwrap();
            return (result.unwrap(), history);
        }
        skail.kill().await;
        bench.store = bench.store.crash();
    }
    unreachable!("fates and crashes are used up some day")
}

/// The number of the attempt that an event is about, and of its command.
fn attempt_of(event: &Event) -> Option<(u32, u32)> {
    match event {
        Event::CommandStarted { step, attempt, .. }
        | Event::CommandAttemptFailed { step, attempt, .. } => Some((step.position.0, *attempt)),
        Event::CommandCompleted { step, attempts, .. }
        | Event::CommandFailed { step, attempts, .. } => Some((step.position.0, *attempts)),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_command_makes_more_attempts_than_one_and_its_retry_count(
        commands in proptest::collection::vec((0..4_u32, fates()), 1..5),
        crashes in crashes(),
    ) {
        let retry_counts: Vec<u32> = commands.iter().map(|(count, _)| *count).collect();
        let outside = Outside::default();
        for (command, (_, fates)) in (0..).zip(&commands) {
            let fates = fates.iter().copied().collect();
            outside.world.lock().unwrap().fates.insert(command, fates);
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let (attempts, history) = runtime.block_on(async {
            let mut bench = Bench::new();
            bench.outside = outside.clone();
            live(&mut bench, &crashes, retry_counts.clone()).await
        });
        let world = outside.world.lock().unwrap();
        for (command, retry_count) in (0..).zip(&retry_counts) {
            let most = 1 + retry_count;
            let runs = world.runs.get(&command).cloned().unwrap_or_default();
            prop_assert!(attempts[command as usize] <= most, "told: {attempts:?}");
            prop_assert!(runs.iter().all(|number| *number <= most), "numbers: {runs:?}");
            // The first death of a process in it is not counted, unless it may run only once.
            let free = u32::from(*retry_count > 0);
            prop_assert!(runs.len() <= (most + free) as usize, "runs: {runs:?} of {most}");
        }
        for event in &history {
            let Some((command, number)) = attempt_of(event) else {
                continue;
            };
            let most = 1 + retry_counts[command as usize];
            prop_assert!(number <= most, "recorded: {event:?}");
            if let Event::CommandFailed { attempts, failure, .. } = event {
                // Nobody gives up before the attempts are spent, unless the error says so.
                let early = failure.advice == Advice::Permanent;
                prop_assert!(early || *attempts == most, "{attempts} of {most}: {failure}");
            }
        }
    }
}
