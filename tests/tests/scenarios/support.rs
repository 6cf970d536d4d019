//! Starting engines for a test, counting what commands did, and holding them where the test wants them.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use skail_runtime::Builder;
use skail_runtime::clock::Timestamp;
use skail_runtime::history::Event;
use skail_runtime::prelude::*;
use skail_runtime::store::MemoryStore;
use skail_runtime::testing::VirtualClock;
use tokio::sync::{Semaphore, watch};

/// Counts what bodies did, by name; for `#[state]`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Runs(Arc<watch::Sender<BTreeMap<String, u32>>>);

impl Runs {
    /// One more; gives its number, from 1.
    pub(crate) fn count(&self, name: &str) -> u32 {
        let mut number = 0;
        self.0.send_modify(|runs| {
            let count = runs.entry(name.to_owned()).or_default();
            *count += 1;
            number = *count;
        });
        number
    }

    pub(crate) fn of(&self, name: &str) -> u32 {
        self.0.borrow().get(name).copied().unwrap_or(0)
    }

    /// Waits until the count is `number` or more.
    pub(crate) async fn reached(&self, name: &str, number: u32) {
        let mut runs = self.0.subscribe();
        let reached = runs.wait_for(|runs| runs.get(name).is_some_and(|count| *count >= number));
        let what = format!("{name} to run {number} times");
        soon(&what, reached).await.expect("the counter is here");
    }
}

/// Doors by name, all shut at first, where bodies wait for the test; for `#[state]`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gates(Arc<Mutex<HashMap<String, Arc<Gate>>>>);

#[derive(Debug)]
struct Gate {
    open: Semaphore,
    arrived: watch::Sender<u32>,
    present: watch::Sender<u32>,
    peak: AtomicU32,
}

impl Gates {
    fn gate(&self, name: &str) -> Arc<Gate> {
        let shut = || {
            Arc::new(Gate {
                open: Semaphore::new(0),
                arrived: watch::Sender::new(0),
                present: watch::Sender::new(0),
                peak: AtomicU32::new(0),
            })
        };
        let mut gates = self.0.lock().unwrap();
        Arc::clone(gates.entry(name.to_owned()).or_insert_with(shut))
    }

    /// Lets `many` through, those who wait first.
    pub(crate) fn open(&self, name: &str, many: usize) {
        self.gate(name).open.add_permits(many);
    }

    /// Waits to be let through.
    pub(crate) async fn pass(&self, name: &str) {
        let gate = self.gate(name);
        gate.arrived.send_modify(|arrived| *arrived += 1);
        gate.present.send_modify(|present| {
            *present += 1;
            gate.peak.fetch_max(*present, Ordering::SeqCst);
        });
        let _present = Present(&gate.present);
        let pass = gate.open.acquire().await;
        pass.expect("gates are not closed").forget();
    }

    /// Waits until no more than `many` are at this gate: others have passed, or were stopped.
    pub(crate) async fn left(&self, name: &str, many: u32) {
        let gate = self.gate(name);
        let mut present = gate.present.subscribe();
        let left = present.wait_for(|present| *present <= many);
        let what = format!("all but {many} to leave the gate `{name}`");
        soon(&what, left).await.expect("the gate is here");
    }

    /// The most that ever were at this gate at once.
    pub(crate) fn peak(&self, name: &str) -> u32 {
        self.gate(name).peak.load(Ordering::SeqCst)
    }

    /// Waits until `many` have come to this gate since the beginning.
    pub(crate) async fn reached(&self, name: &str, many: u32) {
        let gate = self.gate(name);
        let mut arrivals = gate.arrived.subscribe();
        let arrived = arrivals.wait_for(|arrived| *arrived >= many);
        let what = format!("{many} at the gate `{name}`");
        soon(&what, arrived).await.expect("the gate is here");
    }
}

/// The idempotency keys that bodies were given, in order; for `#[state]`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys(Arc<Mutex<Vec<String>>>);

impl Keys {
    pub(crate) fn note(&self, key: String) {
        self.0.lock().unwrap().push(key);
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

struct Present<'a>(&'a watch::Sender<u32>);

impl Drop for Present<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|present| *present -= 1);
    }
}

/// What the function `deployed` does today: its lines, one step or more each; for `#[state]`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Code(Arc<Mutex<Vec<Line>>>);

/// One line of [`Code`].
#[derive(Debug, Clone)]
pub(crate) enum Line {
    /// A command that takes a text.
    Reserve(&'static str),
    /// Another one with the same parameter and result.
    Charge(&'static str),
    /// Two at a time.
    Both(&'static str, &'static str),
    /// A command that waits at the gate of this name.
    Gate(&'static str),
    /// The time.
    Now,
    /// A number below 256.
    Random,
    /// An id.
    Uuid,
    /// A value under this name.
    Record(&'static str),
    /// A wait for so long.
    Sleep(Duration),
    /// A wait until then.
    SleepUntil(Timestamp),
    /// A charge that may take so long.
    Bound(Duration, &'static str),
    /// A gate that may take so long.
    BoundGate(Duration, &'static str),
    /// A change: the new lines, and the old ones.
    Patched(&'static str, Vec<Line>, Vec<Line>),
}

impl Code {
    /// Deploys these lines: they hold for every run of the function from now on.
    pub(crate) fn deploy(&self, lines: &[Line]) {
        *self.0.lock().unwrap() = lines.to_vec();
    }

    pub(crate) fn lines(&self) -> Vec<Line> {
        self.0.lock().unwrap().clone()
    }
}

/// A store, a clock, shared state of commands; engines come and go.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) store: MemoryStore,
    pub(crate) clock: VirtualClock,
    pub(crate) runs: Runs,
    pub(crate) gates: Gates,
    pub(crate) code: Code,
    pub(crate) keys: Keys,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self {
            store: MemoryStore::new(),
            clock: VirtualClock::new(),
            runs: Runs::default(),
            gates: Gates::default(),
            code: Code::default(),
            keys: Keys::default(),
        }
    }

    /// An engine on this bench's store, clock and shared state, with more to be set.
    pub(crate) fn builder(&self) -> Builder {
        Skail::builder()
            .store(self.store.clone())
            .clock(Arc::new(self.clock.clone()))
            .seed(1)
            .state(self.runs.clone())
            .state(self.gates.clone())
            .state(self.code.clone())
            .state(self.keys.clone())
    }

    pub(crate) async fn engine(&self) -> Skail {
        self.builder().start().await.expect("the engine starts")
    }

    /// The process dies as it stands; the next one starts on what was durable.
    pub(crate) async fn crash(&mut self, skail: Skail) -> Skail {
        skail.kill().await;
        self.store = self.store.crash();
        self.engine().await
    }
}

/// Waits for what must come, and says what did not.
pub(crate) async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(Duration::from_secs(60), future).await {
        Ok(output) => output,
        Err(_) => panic!("waited a minute for {what}"),
    }
}

/// Waits until the history holds an event like this one.
pub(crate) async fn recorded<T>(execution: &Execution<T>, like: impl Fn(&Event) -> bool) {
    let there = async {
        while !execution.history().await.unwrap().iter().any(&like) {
            tokio::task::yield_now().await;
        }
    };
    soon("an event of the history", there).await;
}

/// How many events are like this one.
pub(crate) async fn count<T>(execution: &Execution<T>, like: impl Fn(&Event) -> bool) -> usize {
    let history = execution.history().await.unwrap();
    history.iter().filter(|event| like(event)).count()
}
