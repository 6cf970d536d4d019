//! Programs as data: what a function may do with calls, and a function that does it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::{BoxFuture, join_all, select_all};
use futures::stream::{FuturesUnordered, StreamExt};
use serde::{Deserialize, Serialize};
use skail_runtime::prelude::*;

/// What a function does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Node {
    /// Calls a command and awaits it.
    Step(Call),
    /// One after the other, until one fails.
    Sequence(Vec<Node>),
    /// All at once, awaited together.
    Join(Vec<Node>),
    /// All at once, taken in the order in which they end.
    Unordered(Vec<Node>),
    /// All at once; the first to end wins and the others are dropped.
    Race(Vec<Node>),
    /// The first is begun and left alone, the second awaited, then the first.
    Held(Box<Node>, Box<Node>),
    /// Two calls are made in one order and awaited in the other.
    Crossed(Call, Call),
    /// Begun and dropped.
    Abandoned(Call),
    /// Made and never polled.
    Unpolled(Call),
    /// Asks for a value of this kind.
    Value(u32, Kind),
    /// Sleeps for so many milliseconds.
    Sleep(u32, u32),
    /// At most so many milliseconds of this.
    Bound(u32, u32, Box<Node>),
    /// What is new in the code: done by every execution, since all of them start with it.
    Patched(Box<Node>),
}

/// A kind of value.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Kind {
    Now,
    Random,
    Record,
}

/// One call of the one command.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Call {
    /// Different for every call of a program.
    pub(crate) label: u32,
    /// How often the body yields before it ends, at least.
    pub(crate) yields: u8,
    /// How many attempts fail before one succeeds.
    pub(crate) failures: u8,
    /// Its `retry_count`.
    pub(crate) retries: u8,
}

/// What a call came to, as the function saw it.
pub(crate) type Seen = (u32, Option<u64>);

/// What the outside world noticed.
#[derive(Debug, Clone, Default)]
pub(crate) struct World(pub(crate) Arc<Mutex<Noticed>>);

#[derive(Debug, Default)]
pub(crate) struct Noticed {
    /// One entry per run of the function: what it saw, in order.
    pub(crate) runs: Vec<Vec<Seen>>,
    /// Which of those runs ended an attempt of the function with an error. Others left memory to wait, or
    /// died with the process.
    pub(crate) failed: Vec<usize>,
    /// The values that a function was given, by label: once given, they are the same in every run.
    pub(crate) values: BTreeMap<u32, u64>,
    /// The labels of the bodies that began, in order.
    pub(crate) bodies: Vec<u32>,
    /// Decides how long bodies take, differently in every life of the process.
    pub(crate) random: fastrand::Rng,
}

impl World {
    fn see(&self, seen: Seen) {
        let mut noticed = self.0.lock().unwrap();
        noticed.runs.last_mut().expect("a run began").push(seen);
    }

    fn given(&self, label: u32, value: u64) {
        let first = *self.0.lock().unwrap().values.entry(label).or_insert(value);
        assert_eq!(first, value, "value {label} was another one before");
        self.see((label, Some(value)));
    }
}

/// What the call with this label gives: nothing that another call could give.
pub(crate) fn value_of(label: u32) -> u64 {
    u64::from(label) * 1_000_003 + 17
}

#[skail_command]
async fn step(#[state] world: &World, label: u32, yields: u8, failures: u8) -> anyhow::Result<u64> {
    let extra = {
        let mut noticed = world.0.lock().unwrap();
        noticed.bodies.push(label);
        noticed.random.u8(0..4)
    };
    for _ in 0..yields + extra {
        tokio::task::yield_now().await;
    }
    anyhow::ensure!(attempt().number > u32::from(failures), "not yet");
    Ok(value_of(label))
}

fn call(call: &Call) -> CommandCall<u64> {
    step(call.label, call.yields, call.failures).retry_count(u32::from(call.retries))
}

/// Runs a program. With `strict`, a failure that reaches its root is the function's failure.
#[skail_function(retry_count = 2)]
pub(crate) async fn interpret(
    #[state] world: &World,
    program: Node,
    strict: bool,
) -> anyhow::Result<Vec<Seen>> {
    world.0.lock().unwrap().runs.push(Vec::new());
    let result = run(&program, world).await;
    let seen = world
        .0
        .lock()
        .unwrap()
        .runs
        .last()
        .cloned()
        .unwrap_or_default();
    match result {
        Err(label) if strict => {
            let mut noticed = world.0.lock().unwrap();
            let run = noticed.runs.len() - 1;
            noticed.failed.push(run);
            anyhow::bail!("call {label} failed")
        }
        _ => Ok(seen),
    }
}

/// `Err` holds the label of the call that failed.
fn run<'a>(node: &'a Node, world: &'a World) -> BoxFuture<'a, Result<(), u32>> {
    Box::pin(async move {
        match node {
            Node::Step(spec) => settle(spec.label, call(spec).await, world),
            Node::Sequence(nodes) => {
                for node in nodes {
                    run(node, world).await?;
                }
                Ok(())
            }
            Node::Join(nodes) => join_all(nodes.iter().map(|node| run(node, world)))
                .await
                .into_iter()
                .collect(),
            Node::Unordered(nodes) => {
                let mut all: FuturesUnordered<_> =
                    nodes.iter().map(|node| run(node, world)).collect();
                let mut result = Ok(());
                while let Some(one) = all.next().await {
                    result = result.and(one);
                }
                result
            }
            Node::Race(nodes) if nodes.is_empty() => Ok(()),
            Node::Race(nodes) => {
                select_all(nodes.iter().map(|node| run(node, world)))
                    .await
                    .0
            }
            Node::Held(first, second) => {
                let mut first = run(first, world);
                match futures::poll!(&mut first) {
                    std::task::Poll::Ready(result) => result.and(run(second, world).await),
                    std::task::Poll::Pending => {
                        let second = run(second, world).await;
                        second.and(first.await)
                    }
                }
            }
            Node::Crossed(one, other) => {
                let (first, second) = (call(one), call(other));
                let second = settle(other.label, second.await, world);
                second.and(settle(one.label, first.await, world))
            }
            Node::Abandoned(spec) => {
                let mut begun = call(spec);
                let _ = futures::poll!(&mut begun);
                Ok(())
            }
            Node::Unpolled(spec) => {
                drop(call(spec));
                Ok(())
            }
            Node::Value(label, kind) => {
                let value = match kind {
                    Kind::Now => now().await.map(|now| {
                        let since = now.duration_since(std::time::UNIX_EPOCH);
                        u64::try_from(since.expect("it is later").as_millis()).expect("for long")
                    }),
                    Kind::Random => random().await,
                    Kind::Record => record("made", || fastrand::u64(..)).await,
                };
                world.given(*label, value.map_err(|_| *label)?);
                Ok(())
            }
            Node::Sleep(label, millis) => {
                let slept = sleep(Duration::from_millis((*millis).into())).await;
                world.see((*label, slept.is_ok().then_some(0)));
                slept.map_err(|_| *label)
            }
            Node::Bound(label, millis, node) => {
                let most = Duration::from_millis((*millis).into());
                timeout(most, run(node, world))
                    .await
                    .unwrap_or_else(|elapsed| {
                        assert_eq!(elapsed.kind(), FailureKind::TimedOut);
                        world.see((*label, None));
                        Err(*label)
                    })
            }
            Node::Patched(node) => {
                let new = patched("in every program").await;
                assert!(
                    new.expect("it is in a function"),
                    "an execution is new and its way is old"
                );
                run(node, world).await
            }
        }
    })
}

fn settle(label: u32, result: Result<u64, CommandError>, world: &World) -> Result<(), u32> {
    if let Ok(value) = &result {
        assert_eq!(
            *value,
            value_of(label),
            "call {label} was given the result of another"
        );
    }
    world.see((label, result.as_ref().ok().copied()));
    result.map(drop).map_err(|_| label)
}
