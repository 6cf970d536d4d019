//! A service that is down for five seconds, and what its callers do to it.
//!
//! Ten processes send it 1,000 requests per second in all, evenly. It refuses everything for 5 s and then
//! answers everything: how much it could take is not modelled, the load is what is looked at. An answer
//! takes 10 ms, a refusal too. Each request is tried again until it succeeds.

use std::time::Duration;

use skail_runtime::clock::Timestamp;
use skail_runtime::retry::{Backoff, Breaker, Budget, Caller, Circuit, Jitter, Ledger, Ticket};

use super::queue::Queue;

/// How many requests there are in a second.
pub(super) const RATE: u32 = 1_000;

/// When it goes down; before that, budgets and breakers see what is usual.
pub(super) const DOWN: Duration = Duration::from_secs(15);

/// When it is up again.
pub(super) const UP: Duration = Duration::from_secs(20);

/// Until when requests come.
pub(super) const END: Duration = Duration::from_secs(90);

const PROCESSES: usize = 10;

const LATENCY: Duration = Duration::from_millis(10);

/// What the callers do, each on top of the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    /// Try again at once.
    AtOnce,
    /// Try again after a second.
    Fixed,
    /// After 500 ms, 1 s, 2 s … 30 s.
    Exponential,
    /// After a random part of that.
    FullJitter,
    /// And within a retry budget.
    Budget,
    /// And not while a breaker is open.
    Breaker,
}

pub(super) const STRATEGIES: [Strategy; 6] = [
    Strategy::AtOnce,
    Strategy::Fixed,
    Strategy::Exponential,
    Strategy::FullJitter,
    Strategy::Budget,
    Strategy::Breaker,
];

impl Strategy {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::AtOnce => "no backoff",
            Self::Fixed => "fixed delay of 1 s",
            Self::Exponential => "exponential, no jitter",
            Self::FullJitter => "full jitter",
            Self::Budget => "full jitter + budget",
            Self::Breaker => "full jitter + budget + breaker",
        }
    }

    fn delay(self, failures: u32, random: f64) -> Duration {
        let backoff = |jitter| Backoff::DEFAULT.with_jitter(jitter);
        match self {
            Self::AtOnce => Duration::ZERO,
            Self::Fixed => Duration::from_secs(1),
            Self::Exponential => backoff(Jitter::None).delay(failures - 1, None, random),
            Self::FullJitter | Self::Budget | Self::Breaker => {
                backoff(Jitter::Full).delay(failures - 1, None, random)
            }
        }
    }
}

/// What it came to.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The calls that arrived in each second.
    pub(super) load: Vec<u32>,
    pub(super) calls: u64,
    pub(super) failed: u64,
    /// When the last request that was hit by the outage had succeeded.
    pub(super) recovered: Duration,
}

impl Outcome {
    /// The most calls in a second after the outage, by the usual rate.
    pub(super) fn peak(&self) -> f64 {
        let after = self.load.iter().skip(second(UP)).take(second(END - UP));
        f64::from(after.copied().max().unwrap_or(0)) / f64::from(RATE)
    }

    /// The most calls in a second of the outage, by the usual rate.
    pub(super) fn peak_while_down(&self) -> f64 {
        let during = self.load.iter().take(second(UP)).skip(second(DOWN));
        f64::from(during.copied().max().unwrap_or(0)) / f64::from(RATE)
    }
}

#[derive(Debug, Clone, Copy)]
enum Event {
    /// A request of this process is made.
    Request(usize),
    /// It wants to be sent.
    Send(Request),
    /// Its answer comes.
    Answer(Request, bool, Option<Ticket>),
}

#[derive(Debug, Clone, Copy)]
struct Request {
    process: usize,
    made: Duration,
    failures: u32,
    waited: bool,
}

/// One process: its own budget and breaker, as in the engine.
#[derive(Debug)]
struct Process {
    ledger: Option<Ledger>,
    circuit: Option<Circuit>,
    waiting: u64,
}

impl Process {
    fn new(strategy: Strategy) -> anyhow::Result<Self> {
        let (budget, breaker) = match strategy {
            Strategy::Budget => (true, false),
            Strategy::Breaker => (true, true),
            _ => (false, false),
        };
        Ok(Self {
            ledger: budget.then(|| Ledger::new(Budget::DEFAULT)).transpose()?,
            circuit: breaker
                .then(|| Circuit::new(Breaker::DEFAULT))
                .transpose()?,
            waiting: 0,
        })
    }

    /// Asks breaker and budget; when to ask again otherwise.
    fn ask(&mut self, request: Request, now: Timestamp) -> Result<Option<Ticket>, Timestamp> {
        let retry = request.failures > 0;
        let caller = match (request.waited, retry) {
            (true, _) => Caller::Waited,
            (false, true) => Caller::Retry {
                behind: self.waiting,
            },
            (false, false) => Caller::First,
        };
        let ticket = match &mut self.circuit {
            Some(circuit) => Some(circuit.admit(now, caller)?),
            None => None,
        };
        if let Some(ledger) = &mut self.ledger {
            if !retry {
                ledger.first(now);
            } else if let Err(until) = ledger.retry(now, request.waited) {
                if let (Some(circuit), Some(ticket)) = (&mut self.circuit, ticket) {
                    circuit.forgotten(ticket);
                }
                return Err(until);
            }
        }
        Ok(ticket)
    }
}

/// Runs the outage.
pub(super) fn run(strategy: Strategy, seed: u64) -> anyhow::Result<Outcome> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut queue = Queue::new();
    let mut processes = Vec::new();
    for _ in 0..PROCESSES {
        processes.push(Process::new(strategy)?);
    }
    let mut outcome = Outcome {
        load: Vec::new(),
        calls: 0,
        failed: 0,
        recovered: Duration::ZERO,
    };
    let step = Duration::from_secs(1) / RATE;
    let mut made = 0_u32;
    queue.after(Duration::ZERO, Event::Request(0));
    while let Some(event) = queue.pop() {
        let now = queue.now();
        match event {
            Event::Request(process) => {
                made += 1;
                let next = step * made;
                if next < END {
                    let process = made as usize % PROCESSES;
                    queue.after(next - now, Event::Request(process));
                }
                let request = Request {
                    process,
                    made: now,
                    failures: 0,
                    waited: false,
                };
                queue.after(Duration::ZERO, Event::Send(request));
            }
            Event::Send(mut request) => {
                let process = &mut processes[request.process];
                process.waiting -= u64::from(request.waited);
                match process.ask(request, timestamp(now)) {
                    Ok(ticket) => {
                        request.waited = false;
                        let succeeds = !(DOWN..UP).contains(&now);
                        outcome.count(now, succeeds);
                        queue.after(LATENCY, Event::Answer(request, succeeds, ticket));
                    }
                    Err(until) => {
                        request.waited = true;
                        process.waiting += 1;
                        let wait = until.saturating_since(timestamp(now));
                        queue.after(wait, Event::Send(request));
                    }
                }
            }
            Event::Answer(mut request, succeeded, ticket) => {
                let process = &mut processes[request.process];
                if let (Some(circuit), Some(ticket)) = (&mut process.circuit, ticket) {
                    let random = random.f64();
                    circuit.ended(ticket, succeeded, LATENCY, timestamp(now), random);
                }
                if !succeeded {
                    request.failures += 1;
                    let delay = strategy.delay(request.failures, random.f64());
                    queue.after(delay, Event::Send(request));
                } else if (DOWN..UP).contains(&request.made) {
                    outcome.recovered = now;
                }
            }
        }
    }
    Ok(outcome)
}

impl Outcome {
    fn count(&mut self, now: Duration, succeeds: bool) {
        let second = second(now);
        if self.load.len() <= second {
            self.load.resize(second + 1, 0);
        }
        self.load[second] += 1;
        self.calls += 1;
        self.failed += u64::from(!succeeds);
    }
}

fn second(time: Duration) -> usize {
    usize::try_from(time.as_secs()).unwrap_or(usize::MAX)
}

fn timestamp(time: Duration) -> Timestamp {
    Timestamp::from_millis(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}

/// All strategies.
pub(super) fn run_all(seed: u64) -> anyhow::Result<Vec<(Strategy, Outcome)>> {
    STRATEGIES
        .into_iter()
        .map(|strategy| Ok((strategy, run(strategy, seed)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn naive_callers_are_a_storm_and_a_budget_is_a_tenth() {
        let peak = |strategy| run(strategy, 1).unwrap().peak();
        for naive in [Strategy::AtOnce, Strategy::Fixed, Strategy::Exponential] {
            assert!(peak(naive) >= 3.0, "{}: {}", naive.name(), peak(naive));
        }
        assert!(peak(Strategy::Budget) <= 1.1, "{}", peak(Strategy::Budget));
        // Three probes of each of ten processes.
        let with_breaker = peak(Strategy::Breaker);
        assert!(with_breaker <= 1.1 + 0.03, "{with_breaker}");
    }

    #[test]
    fn a_breaker_spares_the_service_while_it_is_down() {
        let failed = |strategy| run(strategy, 1).unwrap().failed;
        let (without, with) = (failed(Strategy::Budget), failed(Strategy::Breaker));
        assert!(with * 20 < without, "{with} with it, {without} without");
    }

    #[test]
    fn every_request_succeeds_in_the_end() {
        for strategy in STRATEGIES {
            let outcome = run(strategy, 1).unwrap();
            let requests = u64::from(RATE) * END.as_secs();
            assert_eq!(
                outcome.calls - outcome.failed,
                requests,
                "{}",
                strategy.name()
            );
        }
    }
}
