//! A breaker opens when its rule says, lets through no more probes than it was told, and never stays shut
//! for good.

use std::collections::VecDeque;
use std::time::Duration;

use proptest::prelude::*;
use skail_runtime::clock::Timestamp;
use skail_runtime::retry::{Breaker, Circuit, CircuitState, Ticket};

const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

#[derive(Debug, Clone, Copy)]
enum Act {
    Ask { extra: bool },
    End { which: usize, succeeded: bool },
    Forget { which: usize },
    Pass { millis: i64 },
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        8 => any::<bool>().prop_map(|extra| Act::Ask { extra }),
        6 => (any::<usize>(), prop::bool::weighted(0.4))
            .prop_map(|(which, succeeded)| Act::End { which, succeeded }),
        1 => any::<usize>().prop_map(|which| Act::Forget { which }),
        3 => prop_oneof![0..100_i64, 900..1_300_i64, Just(-1)]
            .prop_map(|millis| Act::Pass { millis }),
    ];
    proptest::collection::vec(act, 1..400)
}

#[derive(Debug, Clone, Copy)]
struct Settings {
    calls: u32,
    minimum: u32,
    per_mille: u32,
    probes: u32,
}

const COOL_DOWN: i64 = 1_000;
const PATIENCE: i64 = 30_000;

impl Settings {
    fn circuit(self) -> Circuit {
        let breaker = Breaker::new()
            .last_calls(self.calls)
            .minimum_calls(self.minimum)
            .failure_per_mille(self.per_mille)
            .probes(self.probes)
            .cool_down(Duration::from_millis(COOL_DOWN.unsigned_abs()))
            .probe_patience(Duration::from_millis(PATIENCE.unsigned_abs()));
        Circuit::new(breaker).unwrap()
    }
}

fn settings() -> impl Strategy<Value = Settings> {
    let counts = (1..30_u32).prop_flat_map(|calls| (Just(calls), 1..=calls));
    let per_mille = prop_oneof![Just(1), Just(500), Just(1_000), 1..=1_000_u32];
    (counts, per_mille, 1..6_u32).prop_map(|((calls, minimum), per_mille, probes)| Settings {
        calls,
        minimum,
        per_mille,
        probes,
    })
}

/// What the test knows of one call that was let through.
#[derive(Debug, Clone, Copy)]
struct Out {
    ticket: Ticket,
    /// How often the state had changed when it was let through.
    change: u32,
    probe: bool,
}

/// The breaker's rule, written down as plainly as possible.
#[derive(Debug)]
struct Model {
    settings: Settings,
    state: CircuitState,
    changes: u32,
    opened_at: i64,
    calls: VecDeque<bool>,
    probes_out: u32,
    probes_back: [u32; 2],
    trial_since: i64,
}

impl Model {
    fn change(&mut self, state: CircuitState, now: i64) {
        self.state = state;
        self.changes += 1;
        self.calls.clear();
        self.probes_out = 0;
        self.probes_back = [0; 2];
        self.opened_at = now;
        self.trial_since = now;
    }

    fn end(&mut self, out: Out, succeeded: bool, now: i64) {
        if out.change != self.changes {
            return;
        }
        let Settings {
            calls,
            minimum,
            per_mille,
            probes,
        } = self.settings;
        if self.state == CircuitState::HalfOpen {
            self.probes_out = self.probes_out.saturating_sub(1);
            self.probes_back[usize::from(succeeded)] += 1;
            let [failed, succeeded] = self.probes_back;
            // Whatever the missing ones say, it opens, or it closes.
            if failed * 1_000 >= probes * per_mille {
                self.change(CircuitState::Open, now);
            } else if (probes - succeeded.min(probes)) * 1_000 < probes * per_mille {
                self.change(CircuitState::Closed, now);
            }
            return;
        }
        self.calls.push_back(!succeeded);
        if self.calls.len() > calls as usize {
            self.calls.pop_front();
        }
        let all = self.calls.len() as u32;
        let failed = self.calls.iter().filter(|failed| **failed).count() as u32;
        if !succeeded && all >= minimum && failed * 1_000 >= all * per_mille {
            self.change(CircuitState::Open, now);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn it_follows_its_rule_through_any_sequence_of_calls(settings in settings(), acts in acts()) {
        let mut circuit = settings.circuit();
        let mut model = Model {
            settings,
            state: CircuitState::Closed,
            changes: 0,
            opened_at: 0,
            calls: VecDeque::new(),
            probes_out: 0,
            probes_back: [0; 2],
            trial_since: 0,
        };
        let mut out: Vec<Out> = Vec::new();
        let mut now = 50_000;
        for act in acts {
            match act {
                Act::Pass { millis } => now += millis,
                Act::Ask { extra } => {
                    let open = model.state == CircuitState::Open;
                    // Set back, the clock begins to count anew.
                    model.opened_at = model.opened_at.min(now);
                    let asked = circuit.admit(at(now), extra);
                    if open && now - model.opened_at < COOL_DOWN {
                        prop_assert!(asked.is_err(), "it let one through while it cools down");
                    }
                    if open && circuit.state() == CircuitState::HalfOpen {
                        model.change(CircuitState::HalfOpen, now);
                    }
                    if let Ok(ticket) = asked {
                        let probe = model.state == CircuitState::HalfOpen;
                        if probe {
                            model.probes_out += 1;
                            let used = model.probes_out + model.probes_back.iter().sum::<u32>();
                            prop_assert!(used <= settings.probes, "{used} probes");
                        }
                        out.push(Out { ticket, change: model.changes, probe });
                    } else {
                        prop_assert!(asked.unwrap_err() > at(now));
                        let may_wait = model.state != CircuitState::Closed || extra;
                        prop_assert!(may_wait, "a first attempt waits only for an outage");
                    }
                }
                Act::End { which, succeeded } if !out.is_empty() => {
                    let call = out.swap_remove(which % out.len());
                    let counted =
                        circuit.ended(call.ticket, succeeded, Duration::ZERO, at(now), 0.0);
                    prop_assert_eq!(counted, call.change == model.changes);
                    model.end(call, succeeded, now);
                }
                Act::Forget { which } if !out.is_empty() => {
                    let call = out.swap_remove(which % out.len());
                    circuit.forgotten(call.ticket);
                    if call.probe && call.change == model.changes {
                        model.probes_out -= 1;
                    }
                }
                Act::End { .. } | Act::Forget { .. } => {}
            }
            // No trial of this test lasts until the patience ends, or the model would have to know it.
            if model.state == CircuitState::HalfOpen && now - model.trial_since > PATIENCE / 2 {
                break;
            }
            prop_assert_eq!(circuit.state(), model.state);
        }
    }

    #[test]
    fn from_wherever_it_stands_it_closes_once_all_calls_succeed(
        settings in settings(),
        acts in acts(),
    ) {
        let mut circuit = settings.circuit();
        let mut now = 50_000;
        let mut out = Vec::new();
        for act in acts {
            match act {
                Act::Pass { millis } => now += millis,
                Act::Ask { extra } => out.extend(circuit.admit(at(now), extra)),
                Act::End { which, succeeded } if !out.is_empty() => {
                    let call = out.swap_remove(which % out.len());
                    circuit.ended(call, succeeded, Duration::ZERO, at(now), 0.9);
                }
                Act::End { .. } | Act::Forget { .. } => {}
            }
        }
        // Some who were let through are never heard of again; one caller goes on, as it is told.
        let mut asked = 0;
        while circuit.state() != CircuitState::Closed {
            asked += 1;
            prop_assert!(asked < 200, "it stays {} for ever", circuit.state());
            match circuit.admit(at(now), true) {
                Ok(ticket) => {
                    circuit.ended(ticket, true, Duration::ZERO, at(now), 0.9);
                }
                Err(again) => now = again.as_millis(),
            }
        }
    }
}

/// Opens a breaker at `now` by failing calls.
fn open(circuit: &mut Circuit, now: i64) {
    while circuit.state() == CircuitState::Closed {
        let ticket = circuit.admit(at(now), false).unwrap();
        circuit.ended(ticket, false, Duration::ZERO, at(now), 0.0);
    }
}

#[test]
fn a_window_of_time_forgets_and_too_few_calls_mean_nothing() {
    let mut circuit = Circuit::new(Breaker::new().minimum_calls(10)).unwrap();
    let call = |circuit: &mut Circuit, now, succeeded| {
        let ticket = circuit.admit(at(now), false).unwrap();
        circuit.ended(ticket, succeeded, Duration::ZERO, at(now), 0.0);
    };
    // Nine failures, again and again, are never ten within ten seconds.
    for burst in 0..5 {
        for _ in 0..9 {
            call(&mut circuit, burst * 12_000, false);
        }
    }
    assert_eq!(circuit.state(), CircuitState::Closed);
    // Four failures of ten are not half.
    for number in 0..100 {
        call(&mut circuit, 100_000 + number, number % 10 < 6);
    }
    assert_eq!(circuit.state(), CircuitState::Closed);
    for number in 0..60 {
        if circuit.state() == CircuitState::Closed {
            call(&mut circuit, 101_000 + number, false);
        }
    }
    assert_eq!(circuit.state(), CircuitState::Open);
}

#[test]
fn slow_calls_count_as_failures_only_if_that_was_set() {
    let slow = Duration::from_secs(3);
    for (breaker, expected) in [
        (Breaker::new(), CircuitState::Closed),
        (Breaker::new().slow_after(slow), CircuitState::Open),
    ] {
        let mut circuit = Circuit::new(breaker).unwrap();
        for _ in 0..10 {
            let ticket = circuit.admit(at(0), false).unwrap();
            circuit.ended(ticket, true, slow, at(3_000), 0.0);
        }
        assert_eq!(circuit.state(), expected);
    }
}

#[test]
fn a_hundred_who_come_together_are_no_more_than_the_probes() {
    let mut circuit = Circuit::new(Breaker::new().probes(3)).unwrap();
    open(&mut circuit, 0);
    let let_through = |circuit: &mut Circuit, now| -> Vec<Ticket> {
        (0..100)
            .filter_map(|_| circuit.admit(at(now), true).ok())
            .collect()
    };
    let probes = let_through(&mut circuit, 6_000);
    assert_eq!(probes.len(), 3);
    // One was dropped: another may take its place.
    circuit.forgotten(probes[0]);
    assert_eq!(let_through(&mut circuit, 6_010).len(), 1);
    // None comes back for a minute: three more may try.
    assert_eq!(let_through(&mut circuit, 65_999).len(), 0);
    assert_eq!(let_through(&mut circuit, 66_000).len(), 3);
}

#[test]
fn what_began_before_an_outage_neither_closes_nor_opens_anything() {
    let mut circuit = Circuit::new(Breaker::new().probes(1)).unwrap();
    let end = |circuit: &mut Circuit, ticket, succeeded, now| {
        circuit.ended(ticket, succeeded, Duration::ZERO, at(now), 0.0)
    };
    let early: Vec<Ticket> = (0..40)
        .map(|_| circuit.admit(at(0), false).unwrap())
        .collect();
    open(&mut circuit, 100);
    assert!(!end(&mut circuit, early[0], true, 200));
    assert_eq!(circuit.state(), CircuitState::Open, "a late success");
    let probe = circuit.admit(at(6_000), false).unwrap();
    assert!(!end(&mut circuit, early[1], true, 6_001));
    assert!(!end(&mut circuit, early[2], false, 6_001));
    assert_eq!(circuit.state(), CircuitState::HalfOpen, "late results");
    assert!(end(&mut circuit, probe, true, 6_002));
    for ticket in &early[3..] {
        assert!(!end(&mut circuit, *ticket, false, 6_003));
    }
    assert_eq!(circuit.state(), CircuitState::Closed, "late failures");
}

#[test]
fn a_clock_that_is_set_back_neither_opens_it_early_nor_for_hours() {
    let mut circuit = Circuit::new(Breaker::new()).unwrap();
    let hour = 3_600_000;
    open(&mut circuit, 10 * hour);
    let told = circuit.admit(at(9 * hour), false).unwrap_err();
    assert_eq!(told, at(9 * hour + 5_000));
    assert!(circuit.admit(at(9 * hour + 5_000), false).is_ok());
}

#[test]
fn the_cool_down_is_spread_upwards_by_a_fifth() {
    for (random, millis) in [(0.0, 5_000), (0.5, 5_500), (f64::NAN, 5_000), (2.0, 5_000)] {
        let mut circuit = Circuit::new(Breaker::new()).unwrap();
        for _ in 0..10 {
            let ticket = circuit.admit(at(0), false).unwrap();
            circuit.ended(ticket, false, Duration::ZERO, at(0), random);
        }
        assert_eq!(circuit.admit(at(0), false), Err(at(millis)));
    }
}

#[test]
fn settings_that_cannot_work_are_refused_by_name() {
    let refused = |breaker: Breaker| Circuit::new(breaker).unwrap_err().setting;
    let new = Breaker::new;
    assert_eq!(refused(new().failure_per_mille(0)), "failure_per_mille");
    assert_eq!(refused(new().failure_per_mille(1_001)), "failure_per_mille");
    assert_eq!(refused(new().minimum_calls(0)), "minimum_calls");
    assert_eq!(refused(new().last_calls(9)), "minimum_calls");
    assert_eq!(refused(new().last_calls(0)), "last_calls");
    assert_eq!(refused(new().last(Duration::ZERO)), "last");
    assert_eq!(refused(new().probes(0)), "probes");
    assert_eq!(refused(new().cool_down(Duration::ZERO)), "cool_down");
    assert_eq!(
        refused(new().probe_patience(Duration::ZERO)),
        "probe_patience"
    );
    assert_eq!(refused(new().slow_after(Duration::ZERO)), "slow_after");
    let largest = new()
        .last_calls(100_000)
        .minimum_calls(100_000)
        .probes(u32::MAX)
        .cool_down(Duration::MAX)
        .probe_patience(Duration::MAX);
    let mut circuit = Circuit::new(largest).unwrap();
    open(&mut circuit, 0);
    assert_eq!(circuit.admit(at(1), false), Err(Timestamp::MAX));
}
