//! Many clients that want to write the same row: optimistic concurrency.
//!
//! The model of M. Brooker's study (AWS, "Exponential Backoff And Jitter", 2015). One row has a version.
//! Each client reads the version, writes with it, and has succeeded if it was still the current one;
//! otherwise it waits and begins again. Each message takes |Normal(10, 2)| ms. Base 5 ms, cap 2 s; the
//! first wait counts as n = 1, as in the study's own program, so that its ceiling is 10 ms.

use std::time::Duration;

use skail_runtime::retry::{Backoff, Jitter};

use super::queue::Queue;

/// The kinds of waiting, in the order of the study.
pub(super) const STRATEGIES: [Strategy; 5] = [
    Strategy::None,
    Strategy::Backoff("exponential, no jitter", Jitter::None),
    Strategy::Backoff("equal jitter", Jitter::Equal),
    Strategy::Backoff("full jitter", Jitter::Full),
    Strategy::Backoff("decorrelated jitter", Jitter::Decorrelated),
];

/// How a client waits after it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    /// Not at all.
    None,
    Backoff(&'static str, Jitter),
}

impl Strategy {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Backoff(name, _) => name,
        }
    }

    fn backoff(self) -> anyhow::Result<Option<Backoff>> {
        let base = Duration::from_millis(5);
        let cap = Duration::from_secs(2);
        Ok(match self {
            Self::None => None,
            Self::Backoff(_, jitter) => Some(Backoff::new(base, 2.0, cap, jitter)?),
        })
    }
}

/// What it came to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outcome {
    /// How many writes arrived.
    pub(super) calls: f64,
    /// When the last client was done, in milliseconds.
    pub(super) millis: f64,
}

/// The mean of `runs` runs.
pub(super) fn mean(
    strategy: Strategy,
    clients: u32,
    runs: u32,
    random: &mut fastrand::Rng,
) -> anyhow::Result<Outcome> {
    let mut mean = Outcome::default();
    for _ in 0..runs {
        let outcome = run(strategy, clients, random)?;
        mean.calls += outcome.calls / f64::from(runs);
        mean.millis += outcome.millis / f64::from(runs);
    }
    Ok(mean)
}

/// One strategy over numbers of clients.
#[derive(Debug)]
pub(super) struct Curve {
    pub(super) strategy: Strategy,
    pub(super) points: Vec<(u32, Outcome)>,
}

/// All strategies with 10, 20 … 190 clients.
pub(super) fn sweep(runs: u32, seed: u64) -> anyhow::Result<Vec<Curve>> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut curves = Vec::new();
    for strategy in STRATEGIES {
        let mut points = Vec::new();
        for clients in (10..=190).step_by(10) {
            points.push((clients, mean(strategy, clients, runs, &mut random)?));
        }
        curves.push(Curve { strategy, points });
    }
    Ok(curves)
}

/// What arrives, and of which client.
#[derive(Debug, Clone, Copy)]
enum Arrival {
    /// At the server: a question for the version.
    Read(usize),
    /// At the client: the version.
    Version(usize, u64),
    /// At the server: a write with this version.
    Write(usize, u64),
    /// At the client: whether it was the current one.
    Answer(usize, bool),
}

#[derive(Debug, Clone, Copy, Default)]
struct Client {
    failures: u32,
    delay: Option<Duration>,
}

fn run(strategy: Strategy, clients: u32, random: &mut fastrand::Rng) -> anyhow::Result<Outcome> {
    let clients = clients as usize;
    let backoff = strategy.backoff()?;
    let mut queue = Queue::new();
    let mut states = vec![Client::default(); clients];
    let (mut version, mut calls) = (0, 0_u32);
    for client in 0..clients {
        queue.after(network(random), Arrival::Read(client));
    }
    while let Some(arrival) = queue.pop() {
        match arrival {
            Arrival::Read(client) => {
                queue.after(network(random), Arrival::Version(client, version));
            }
            Arrival::Version(client, seen) => {
                queue.after(network(random), Arrival::Write(client, seen));
            }
            Arrival::Write(client, seen) => {
                calls += 1;
                let current = seen == version;
                version += u64::from(current);
                queue.after(network(random), Arrival::Answer(client, current));
            }
            Arrival::Answer(_, true) => {}
            Arrival::Answer(client, false) => {
                let state = &mut states[client];
                state.failures += 1;
                let delay = backoff.map_or(Duration::ZERO, |backoff| {
                    backoff.delay(state.failures, state.delay, random.f64())
                });
                state.delay = Some(delay);
                queue.after(network(random) + delay, Arrival::Read(client));
            }
        }
    }
    Ok(Outcome {
        calls: f64::from(calls),
        millis: queue.now().as_secs_f64() * 1_000.0,
    })
}

/// How long a message takes: |Normal(10, 2)| ms, by Box and Muller.
fn network(random: &mut fastrand::Rng) -> Duration {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    let normal = radius * (std::f64::consts::TAU * random.f64()).cos();
    Duration::from_secs_f64((10.0 + 2.0 * normal).abs() / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bands that independent implementations of the model agree on at 100 clients.
    #[test]
    fn a_hundred_clients_come_out_as_in_the_study() {
        let mut random = fastrand::Rng::with_seed(1);
        let [none, exponential, equal, full, decorrelated] =
            STRATEGIES.map(|strategy| mean(strategy, 100, 20, &mut random).unwrap());
        let share = full.calls / none.calls;
        assert!(
            (0.30..0.36).contains(&share),
            "full by none: {share} of the calls"
        );
        let share = full.millis / exponential.millis;
        assert!(share < 0.12, "full by exponential: {share} of the time");
        let share = equal.millis / full.millis;
        assert!(share > 1.15, "equal by full: {share} of the time");
        let share = decorrelated.calls / full.calls;
        assert!(share > 1.15, "decorrelated by full: {share} of the calls");
        // And the figures themselves, within a tenth.
        let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 0.1;
        assert!(near(none.calls, 2_427.0), "none: {none:?}");
        assert!(
            near(exponential.calls, 1_853.0),
            "exponential: {exponential:?}"
        );
        assert!(near(equal.calls, 814.0), "equal: {equal:?}");
        assert!(near(full.calls, 797.0), "full: {full:?}");
        assert!(
            near(decorrelated.calls, 999.0),
            "decorrelated: {decorrelated:?}"
        );
    }

    #[test]
    fn one_client_needs_one_call_and_the_same_seed_gives_the_same_run() {
        for strategy in STRATEGIES {
            let mut random = fastrand::Rng::with_seed(3);
            let alone = mean(strategy, 1, 50, &mut random).unwrap();
            assert!((alone.calls - 1.0).abs() < 1e-9 && (38.0..42.0).contains(&alone.millis));
        }
        let run = |seed| {
            let mut random = fastrand::Rng::with_seed(seed);
            mean(STRATEGIES[3], 30, 3, &mut random).unwrap()
        };
        assert!((run(5).millis - run(5).millis).abs() < f64::EPSILON);
    }
}
