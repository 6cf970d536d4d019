//! Runs a program through any number of crashes and checks what must hold.

use std::collections::BTreeSet;
use std::sync::Arc;

use skail_runtime::history::Event;
use skail_runtime::prelude::*;
use skail_runtime::store::{MemoryStore, Store as _};
use skail_runtime::testing::VirtualClock;
use skail_runtime::{ExecutionError, Sequence};
use skail_tests::{CrashPoint, CrashStore};

use super::program::{Node, Seen, World, interpret};

/// What a program came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Came {
    /// What the function saw; `None` if the execution failed.
    pub(crate) result: Option<Vec<Seen>>,
    /// How many commits the last life of the process made.
    pub(crate) commits: u64,
}

/// Lives through `crashes`, one life of the process each, and then to the end.
pub(crate) async fn live(program: &Node, strict: bool, seed: u64, crashes: &[CrashPoint]) -> Came {
    let mut store = MemoryStore::new();
    let clock = VirtualClock::new();
    let world = World::default();
    world.0.lock().unwrap().random.seed(seed);
    let id = ExecutionId::new("program").unwrap();
    let mut known = Known::default();
    for crash in crashes.iter().copied().map(Some).chain([None]) {
        let crashing = CrashStore::new(store.clone(), crash);
        let (crashed, commits) = (crashing.crashed(), crashing.commits());
        let skail = engine(crashing, &clock, &world).await;
        let call = interpret(program.clone(), strict);
        let execution = skail.start(call).id(&id).await.expect("it starts");
        let ended = tokio::select! {
            biased;
            () = crashed => None,
            ended = execution.result() => Some(ended),
        };
        skail.kill().await;
        store = store.crash();
        let history = store.history(&id, Sequence(0), usize::MAX).await.unwrap();
        let context = format!("program: {program:?}\ncrashes: {crashes:?}\nhistory: {history:#?}");
        known.check(&world, &history, &context);
        let result = match ended {
            None => continue,
            Some(Ok(seen)) => Some(seen),
            Some(Err(ExecutionError::Failed { .. })) if strict => None,
            Some(Err(error)) => panic!("{error}\n{context}"),
        };
        if let Some(seen) = &result {
            replay_gives(seen, history, program, strict).await;
        }
        return Came {
            result,
            commits: commits(),
        };
    }
    unreachable!("the last life has no crash")
}

/// What is known from the lives before.
#[derive(Debug, Default)]
struct Known {
    /// What the last run of the function saw, if the next one is to take the same way.
    seen: Option<Vec<Seen>>,
    /// How many attempts of the function had failed.
    failures: usize,
    /// How many runs of the function there were.
    runs: usize,
    /// The labels of recorded results.
    completed: BTreeSet<u32>,
}

impl Known {
    /// Checks one life against the lives before, and learns from it.
    fn check(&mut self, world: &World, history: &[Event], context: &str) {
        let mut noticed = world.0.lock().unwrap();
        let first = noticed.runs.get(self.runs);
        if let (Some(earlier), Some(later)) = (&self.seen, first) {
            // The later run may have been killed before it came as far.
            let common = earlier.len().min(later.len());
            assert_eq!(
                earlier[..common],
                later[..common],
                "another way was taken\n{context}"
            );
        }
        for label in std::mem::take(&mut noticed.bodies) {
            assert!(
                !self.completed.contains(&label),
                "call {label} ran again\n{context}"
            );
        }
        let runs = noticed.runs.len() - self.runs;
        let failed = |event: &&Event| matches!(event, Event::FunctionAttemptFailed { .. });
        let failures = history.iter().filter(failed).count();
        // The first run of a life continues the attempt that the history is in, and the run after one
        // that ended in an error is of the next attempt. The last one is taken up again if its attempt
        // has not ended.
        let last = noticed.runs.len().saturating_sub(1);
        let ended = noticed
            .failed
            .iter()
            .filter(|run| (self.runs..last).contains(run));
        let last_attempt = self.failures + 1 + ended.count();
        self.seen = match noticed.runs.last() {
            Some(seen) if runs > 0 && last_attempt == failures + 1 => Some(seen.clone()),
            _ => None,
        };
        self.failures = failures;
        self.runs = noticed.runs.len();
        self.completed = completed(history);
    }
}

async fn engine(
    store: impl skail_runtime::store::Store,
    clock: &VirtualClock,
    world: &World,
) -> Skail {
    Skail::builder()
        .store(store)
        .clock(Arc::new(clock.clone()))
        .seed(7)
        .state(world.clone())
        .state(super::every_event::World::default())
        .start()
        .await
        .expect("the engine starts")
}

fn completed(history: &[Event]) -> BTreeSet<u32> {
    history
        .iter()
        .filter_map(|event| match event {
            Event::CommandCompleted { result, .. } => result.decode::<u64>().ok(),
            _ => None,
        })
        .map(|value| u32::try_from((value - 17) / 1_000_003).expect("a label"))
        .collect()
}

/// The history of a completed execution, cut before its end, gives the same result again, and no body
/// runs for it.
async fn replay_gives(seen: &[Seen], mut history: Vec<Event>, program: &Node, strict: bool) {
    assert!(matches!(history.pop(), Some(Event::Completed { .. })));
    let store = MemoryStore::new();
    let clock = VirtualClock::new();
    let world = World::default();
    let id = ExecutionId::new("again").unwrap();
    skail_tests::import(&store, &id, history).await;
    let skail = engine(store.clone(), &clock, &world).await;
    let again = skail
        .start(interpret(program.clone(), strict))
        .id(&id)
        .await
        .expect("it is there");
    let result = again
        .result()
        .await
        .unwrap_or_else(|error| panic!("{error}\n{program:?}"));
    assert_eq!(
        result, seen,
        "the replay came to something else\n{program:?}"
    );
    skail.kill().await;
    // Bodies that the function does not wait for may begin once more; completed ones may not.
    let bodies = world.0.lock().unwrap().bodies.clone();
    for label in bodies {
        assert!(
            !seen
                .iter()
                .any(|(done, value)| *done == label && value.is_some())
        );
    }
}
