//! What a breaker does in the cases that one meets, one by one.

use std::time::Duration;

use skail_runtime::clock::Timestamp;
use skail_runtime::retry::{Breaker, Caller, Circuit, CircuitState, Ticket};

const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// Opens a breaker at `now` by failing calls.
fn open(circuit: &mut Circuit, now: i64) {
    while circuit.state() == CircuitState::Closed {
        let ticket = circuit.admit(at(now), Caller::First).unwrap();
        circuit.ended(ticket, false, Duration::ZERO, at(now), 0.0);
    }
}

#[test]
fn a_window_of_time_forgets_and_too_few_calls_mean_nothing() {
    let breaker = Breaker::new().minimum_calls(10).in_a_row(u32::MAX);
    let mut circuit = Circuit::new(breaker).unwrap();
    let call = |circuit: &mut Circuit, now, succeeded| {
        let ticket = circuit.admit(at(now), Caller::First).unwrap();
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
fn an_outage_is_seen_at_once_though_the_window_is_full_of_successes() {
    let mut circuit = Circuit::new(Breaker::new()).unwrap();
    for number in 0..10_010 {
        assert_eq!(circuit.state(), CircuitState::Closed, "call {number}");
        let ticket = circuit.admit(at(number), Caller::First).unwrap();
        circuit.ended(ticket, number < 10_000, Duration::ZERO, at(number), 0.0);
    }
    assert_eq!(circuit.state(), CircuitState::Open);
}

#[test]
fn a_retry_does_not_go_before_those_who_wait() {
    let mut circuit = Circuit::new(Breaker::new()).unwrap();
    open(&mut circuit, 0);
    let alone = circuit.admit(at(1), Caller::Retry { behind: 0 });
    assert_eq!(alone, Err(at(5_000)));
    let turns: Vec<Timestamp> = (0..1_000)
        .map(|_| circuit.admit(at(1), Caller::First).unwrap_err())
        .collect();
    assert!(turns.is_sorted());
    let retry = Caller::Retry { behind: 1_000 };
    let behind = circuit.admit(at(2), retry).unwrap_err();
    let before = turns.iter().filter(|turn| **turn <= behind).count();
    assert!(before > 700, "{before} of 1,000 before it");
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
            let ticket = circuit.admit(at(0), Caller::First).unwrap();
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
            .filter_map(|_| circuit.admit(at(now), Caller::Waited).ok())
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
        .map(|_| circuit.admit(at(0), Caller::First).unwrap())
        .collect();
    open(&mut circuit, 100);
    assert!(!end(&mut circuit, early[0], true, 200));
    assert_eq!(circuit.state(), CircuitState::Open, "a late success");
    let probe = circuit.admit(at(6_000), Caller::First).unwrap();
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
    let told = circuit.admit(at(9 * hour), Caller::First).unwrap_err();
    assert_eq!(told, at(9 * hour + 5_000));
    assert!(circuit.admit(at(9 * hour + 5_000), Caller::First).is_ok());
}

#[test]
fn the_cool_down_is_spread_upwards_by_a_fifth() {
    for (random, millis) in [(0.0, 5_000), (0.5, 5_500), (f64::NAN, 5_000), (2.0, 5_000)] {
        let mut circuit = Circuit::new(Breaker::new()).unwrap();
        for _ in 0..10 {
            let ticket = circuit.admit(at(0), Caller::First).unwrap();
            circuit.ended(ticket, false, Duration::ZERO, at(0), random);
        }
        assert_eq!(circuit.admit(at(0), Caller::First), Err(at(millis)));
    }
}

#[test]
fn the_cool_down_doubles_while_trials_fail_and_begins_afresh_once_it_closed() {
    let mut circuit = Circuit::new(Breaker::new().probes(1)).unwrap();
    let (mut now, mut cool_downs) = (0, Vec::new());
    for trial in 0..6 {
        open(&mut circuit, now);
        let until = circuit
            .admit(at(now), Caller::First)
            .unwrap_err()
            .as_millis();
        cool_downs.push((until - now) / 1_000);
        now = until;
        let probe = circuit.admit(at(now), Caller::First).unwrap();
        circuit.ended(probe, trial == 5, Duration::ZERO, at(now), 0.0);
    }
    assert_eq!(cool_downs, [5, 10, 20, 40, 60, 60]);
    open(&mut circuit, now);
    assert_eq!(circuit.admit(at(now), Caller::First), Err(at(now + 5_000)));
}

#[test]
fn settings_that_cannot_work_are_refused_by_name() {
    let refused = |breaker: Breaker| Circuit::new(breaker).unwrap_err().setting;
    let new = Breaker::new;
    assert_eq!(refused(new().failure_per_mille(0)), "failure_per_mille");
    assert_eq!(refused(new().failure_per_mille(1_001)), "failure_per_mille");
    assert_eq!(refused(new().minimum_calls(0)), "minimum_calls");
    assert_eq!(refused(new().in_a_row(0)), "in_a_row");
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
        .in_a_row(u32::MAX)
        .probes(u32::MAX)
        .cool_down(Duration::MAX)
        .probe_patience(Duration::MAX);
    let mut circuit = Circuit::new(largest).unwrap();
    open(&mut circuit, 0);
    assert_eq!(circuit.admit(at(1), Caller::First), Err(Timestamp::MAX));
}
