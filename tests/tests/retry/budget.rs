//! A budget lets through what it says, no more and hardly less, whatever is asked when.

use std::time::Duration;

use proptest::prelude::*;
use skail_runtime::clock::Timestamp;
use skail_runtime::retry::{Budget, Ledger};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Ask {
    First,
    Retry { waited: bool },
}

/// What is asked, and how many milliseconds after the one before (or, now and then, before it).
fn asks() -> impl Strategy<Value = Vec<(Ask, i64)>> {
    let ask = prop_oneof![
        3 => Just(Ask::First),
        2 => any::<bool>().prop_map(|waited| Ask::Retry { waited }),
    ];
    let pause = prop_oneof![
        6 => 0..3_i64,
        3 => 0..200_i64,
        1 => Just(1_001),
        1 => Just(-1),
        1 => 0..40_000_i64,
    ];
    proptest::collection::vec((ask, pause), 1..800)
}

#[derive(Debug, Clone, Copy)]
struct Settings {
    per_mille: u32,
    floor: u32,
    window: i64,
}

impl Settings {
    fn ledger(self) -> Ledger {
        let budget = Budget::new()
            .per_mille(self.per_mille)
            .floor_per_second(self.floor)
            .window(Duration::from_millis(self.window.unsigned_abs()));
        Ledger::new(budget).unwrap()
    }

    /// How many retries so many first attempts in a window allow.
    fn share(self, first: usize) -> usize {
        let floor = self.floor as usize * usize::try_from(self.window).unwrap() / 1_000;
        (first * self.per_mille as usize / 1_000).max(floor)
    }
}

fn settings() -> impl Strategy<Value = Settings> {
    let per_mille = prop_oneof![Just(0), Just(100), Just(150), Just(300), 0..=1_000_u32];
    let window = prop_oneof![Just(10_000), Just(1_000), 1_000..20_000_i64];
    (per_mille, 1..20_u32, window).prop_map(|(per_mille, floor, window)| Settings {
        per_mille,
        floor,
        window,
    })
}

/// How many of `times` are later than `span` before `now`.
fn within(times: &[i64], now: i64, span: i64) -> usize {
    times
        .iter()
        .rev()
        .take_while(|at| **at > now - span)
        .count()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_window_holds_more_retries_than_it_allows_and_none_is_refused_that_it_has_room_for(
        settings in settings(),
        asks in asks(),
    ) {
        let mut ledger = settings.ledger();
        let (window, slot) = (settings.window, settings.window / 10);
        let (mut first, mut retries) = (Vec::new(), Vec::new());
        // A clock that is a little late stands still for the ledger.
        let (mut clock, mut now) = (1_000_000, 1_000_000);
        for (ask, pause) in asks {
            clock += pause;
            now = now.max(clock);
            let at = Timestamp::from_millis(clock);
            match ask {
                Ask::First => {
                    ledger.first(at);
                    first.push(now);
                }
                Ask::Retry { waited } => match ledger.retry(at, waited) {
                    Ok(()) => {
                        retries.push(now);
                        // What was counted up to a slot longer than the window may have paid.
                        let allowed = settings.share(within(&first, now, window + 2 * slot));
                        let spent = within(&retries, now, window);
                        prop_assert!(spent <= allowed, "{spent} of {allowed}");
                        let in_a_slot = within(&retries, now, slot);
                        let pace = 2 * allowed.div_ceil(11);
                        prop_assert!(in_a_slot <= pace, "{in_a_slot} of {pace} in a slot");
                    }
                    Err(again) => {
                        prop_assert!(again > at);
                        let sure = settings.share(within(&first, now, window));
                        let spent = within(&retries, now, window + 2 * slot);
                        let in_a_slot = within(&retries, now, slot + 1);
                        let pace = sure.div_ceil(11);
                        let mine = if waited { pace } else { pace / 2 };
                        prop_assert!(spent >= sure || in_a_slot >= mine);
                    }
                },
            }
        }
    }

    #[test]
    fn all_who_wait_get_their_turn_in_about_the_time_that_the_floor_takes(
        floor in 1..50_u32,
        waiting in 1..500_usize,
    ) {
        let settings = Settings { per_mille: 100, floor, window: 10_000 };
        let mut ledger = settings.ledger();
        let begin = 7_777;
        let mut looks: Vec<(i64, bool)> = vec![(begin, false); waiting];
        let (mut asked, mut last) = (0, begin);
        while !looks.is_empty() {
            looks.sort_unstable_by(|one, other| other.cmp(one));
            let (now, waited) = looks.pop().unwrap();
            asked += 1;
            match ledger.retry(Timestamp::from_millis(now), waited) {
                Ok(()) => last = now,
                Err(again) => looks.push((again.as_millis(), true)),
            }
        }
        let seconds = (last - begin) / 1_000;
        let least = i64::try_from(waiting).unwrap() / i64::from(floor);
        // A window remembers up to a slot longer than its span: 11 tenths of the time.
        prop_assert!(seconds <= least * 11 / 10 + 12, "{seconds} s where {least} s are enough");
        prop_assert!(asked <= 4 * waiting + 10, "{waiting} asked {asked} times");
    }
}

#[test]
fn a_budget_is_exact_where_ratios_are_usually_rounded() {
    // A known library turns these into 0.167, 0.333, 0.5, 1 and 1.
    for per_mille in [150, 300, 400, 600, 700, 900] {
        let settings = Settings {
            per_mille,
            floor: 1,
            window: 10_000,
        };
        let mut ledger = settings.ledger();
        let mut retries = 0;
        for millis in 0..100_000_i64 {
            let now = Timestamp::from_millis(millis);
            ledger.first(now);
            retries += u32::from(ledger.retry(now, true).is_ok());
        }
        let allowed = 100 * per_mille;
        assert!(
            retries <= allowed && retries >= allowed * 95 / 100,
            "{per_mille} per mille: {retries} of {allowed}"
        );
    }
}

#[test]
fn a_clock_that_is_set_back_by_an_hour_holds_no_retry_for_an_hour() {
    let at = |millis: i64| Timestamp::from_millis(7_200_000 + millis);
    let mut ledger = Ledger::new(Budget::new().floor_per_second(11)).unwrap();
    while ledger.retry(at(0), false).is_ok() {}
    let hour = -3_600_000_i64;
    let again = ledger.retry(at(hour), true).unwrap_err();
    let most = at(hour + 300_000);
    assert!(again > at(hour) && again <= most, "{again:?}");
    assert_eq!(ledger.retry(at(hour + 1_000), true), Ok(()));
}

#[test]
fn a_budget_that_was_emptied_fills_again() {
    let settings = Settings {
        per_mille: 100,
        floor: 1,
        window: 10_000,
    };
    let mut ledger = settings.ledger();
    let at = Timestamp::from_millis;
    // Ten seconds of outage at 100 a second: each is tried again as often as it may.
    let mut spent = 0;
    for millis in 0..10_000 {
        if millis % 10 == 0 {
            ledger.first(at(millis));
        }
        spent += u32::from(ledger.retry(at(millis), true).is_ok());
    }
    // It grows with the first attempts: 1 in the first second, 10 in the tenth.
    assert!((50..=60).contains(&spent), "{spent}");
    // Two healthy windows.
    for millis in 10_000..30_000 {
        if millis % 10 == 0 {
            ledger.first(at(millis));
        }
    }
    assert_eq!(ledger.left(at(30_000)), 100);
    assert!(ledger.retry(at(30_000), false).is_ok());
}

#[test]
fn settings_that_cannot_work_are_refused_by_name() {
    let refused = |budget: Budget| budget.check().unwrap_err().setting;
    assert_eq!(refused(Budget::new().per_mille(1_001)), "per_mille");
    assert_eq!(
        refused(Budget::new().floor_per_second(0)),
        "floor_per_second"
    );
    assert_eq!(refused(Budget::new().window(Duration::ZERO)), "window");
    assert!(Ledger::new(Budget::new().floor_per_second(0)).is_err());
    let largest = Budget::new()
        .per_mille(1_000)
        .floor_per_second(u32::MAX)
        .window(Duration::MAX);
    let mut ledger = Ledger::new(largest).unwrap();
    assert!(ledger.retry(Timestamp::MAX, false).is_ok());
}
