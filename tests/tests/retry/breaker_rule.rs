//! A breaker opens when its rule says, lets through no more probes than it was told, and never stays shut
//! for good.

use std::collections::VecDeque;
use std::time::Duration;

use proptest::prelude::*;
use skail_runtime::clock::Timestamp;
use skail_runtime::retry::{Breaker, Caller, Circuit, CircuitState, Ticket};

const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

#[derive(Debug, Clone, Copy)]
enum Act {
    Ask { caller: Caller },
    End { which: usize, succeeded: bool },
    Forget { which: usize },
    Pass { millis: i64 },
}

fn callers() -> impl Strategy<Value = Caller> {
    prop_oneof![
        Just(Caller::First),
        Just(Caller::Waited),
        prop_oneof![0..5_u64, any::<u64>()].prop_map(|behind| Caller::Retry { behind }),
    ]
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        8 => callers().prop_map(|caller| Act::Ask { caller }),
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
    in_a_row: u32,
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
            .in_a_row(self.in_a_row)
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
    let in_a_row = prop_oneof![1..20_u32, Just(u32::MAX)];
    (counts, in_a_row, per_mille, 1..6_u32).prop_map(
        |((calls, minimum), in_a_row, per_mille, probes)| Settings {
            calls,
            minimum,
            in_a_row,
            per_mille,
            probes,
        },
    )
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
    /// Of all calls since the last change, however few are remembered.
    in_a_row: u32,
    probes_out: u32,
    probes_back: [u32; 2],
    trial_since: i64,
}

impl Model {
    fn change(&mut self, state: CircuitState, now: i64) {
        self.state = state;
        self.changes += 1;
        self.calls.clear();
        self.in_a_row = 0;
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
            in_a_row,
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
        self.in_a_row = if succeeded { 0 } else { self.in_a_row + 1 };
        self.calls.push_back(!succeeded);
        if self.calls.len() > calls as usize {
            self.calls.pop_front();
        }
        let all = self.calls.len() as u32;
        let failed = self.calls.iter().filter(|failed| **failed).count() as u32;
        let share = all >= minimum && failed * 1_000 >= all * per_mille;
        if !succeeded && (share || self.in_a_row >= in_a_row) {
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
            in_a_row: 0,
            probes_out: 0,
            probes_back: [0; 2],
            trial_since: 0,
        };
        let mut out: Vec<Out> = Vec::new();
        let mut now = 50_000;
        for act in acts {
            match act {
                Act::Pass { millis } => now += millis,
                Act::Ask { caller } => {
                    let open = model.state == CircuitState::Open;
                    // Set back, the clock begins to count anew.
                    model.opened_at = model.opened_at.min(now);
                    let asked = circuit.admit(at(now), caller);
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
                        let may_wait =
                            model.state != CircuitState::Closed || caller != Caller::First;
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
                Act::Ask { caller } => out.extend(circuit.admit(at(now), caller)),
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
            match circuit.admit(at(now), Caller::Waited) {
                Ok(ticket) => {
                    circuit.ended(ticket, true, Duration::ZERO, at(now), 0.9);
                }
                Err(again) => now = again.as_millis(),
            }
        }
    }
}
