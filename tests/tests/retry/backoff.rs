//! Delays stay inside their bounds, whatever the settings, the attempt number and the draw.

use std::time::Duration;

use proptest::prelude::*;
use skail_runtime::retry::{Backoff, Jitter};

const JITTERS: [Jitter; 4] = [
    Jitter::Full,
    Jitter::Equal,
    Jitter::Decorrelated,
    Jitter::None,
];

/// Base and cap from a nanosecond to the longest duration, factors from 1 to ones that overflow at once.
fn backoffs() -> impl Strategy<Value = Backoff> {
    let nanos = prop_oneof![
        1..=u64::MAX,
        Just(1),
        Just(u64::MAX),
        1_000_000..1_000_000_000_u64,
    ];
    let factor = prop_oneof![Just(1.0), Just(2.0), Just(f64::MAX), 1.0..100.0];
    let longest = any::<bool>();
    (nanos.clone(), nanos, factor, 0..4_usize, longest).prop_map(
        |(base, more, factor, jitter, longest)| {
            let base = Duration::from_nanos(base);
            let cap = if longest {
                Duration::MAX
            } else {
                base.saturating_add(Duration::from_nanos(more))
            };
            Backoff::new(base, factor, cap, JITTERS[jitter]).unwrap()
        },
    )
}

/// All sizes alike: most numbers from `0..=u32::MAX` are astronomically late attempts.
fn attempt_numbers() -> impl Strategy<Value = u32> {
    prop_oneof![
        0..70_u32,
        any::<u32>(),
        Just(u32::MAX),
        (0..32_u32).prop_map(|bits| 1 << bits),
    ]
}

fn draws() -> impl Strategy<Value = f64> {
    prop_oneof![0.0..1.0, Just(0.0), Just(1.0_f64.next_down()), any::<f64>(),]
}

fn previous_delays() -> impl Strategy<Value = Option<Duration>> {
    prop_oneof![
        Just(None),
        Just(Some(Duration::ZERO)),
        Just(Some(Duration::MAX)),
        any::<u64>().prop_map(|nanos| Some(Duration::from_nanos(nanos))),
    ]
}

/// That, and what floating point may be off by: 1 ns, or a part in 10^6.
fn about(duration: Duration) -> Duration {
    let off = Duration::from_nanos(1).saturating_add(duration / 1_000_000);
    duration.saturating_add(off)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_delay_is_empty_or_beyond_the_cap(
        backoff in backoffs(),
        n in attempt_numbers(),
        previous in previous_delays(),
        random in draws(),
    ) {
        let delay = backoff.delay(n, previous, random);
        prop_assert!(delay > Duration::ZERO && delay <= backoff.cap(), "{delay:?}");
    }

    #[test]
    fn each_jitter_keeps_its_own_bounds(
        backoff in backoffs(),
        n in attempt_numbers(),
        previous in previous_delays(),
        random in draws(),
    ) {
        let ceiling = backoff.with_jitter(Jitter::None).delay(n, previous, random);
        let of = |jitter| backoff.with_jitter(jitter).delay(n, previous, random);
        prop_assert!(of(Jitter::Full) <= ceiling);
        let equal = of(Jitter::Equal);
        prop_assert!(equal <= ceiling && about(equal) >= ceiling / 2, "{equal:?}");
        let decorrelated = of(Jitter::Decorrelated);
        prop_assert!(about(decorrelated) >= backoff.base(), "{decorrelated:?}");
        let most = previous
            .unwrap_or(backoff.base())
            .max(backoff.base())
            .saturating_mul(3)
            .min(backoff.cap());
        prop_assert!(decorrelated <= about(most), "{decorrelated:?}");
    }

    #[test]
    fn without_jitter_delays_never_shrink(
        backoff in backoffs(),
        n in attempt_numbers(),
        m in attempt_numbers(),
    ) {
        let backoff = backoff.with_jitter(Jitter::None);
        let delay = |n| backoff.delay(n, None, 0.0);
        prop_assert!(delay(n.min(m)) <= delay(n.max(m)));
        prop_assert!(about(delay(0)) >= backoff.base());
    }

    #[test]
    fn the_same_draw_gives_the_same_delay(
        backoff in backoffs(),
        n in attempt_numbers(),
        random in draws(),
    ) {
        prop_assert_eq!(backoff.delay(n, None, random), backoff.delay(n, None, random));
    }
}

#[test]
fn full_jitter_is_spread_evenly_from_nothing_to_the_ceiling() {
    let mut random = fastrand::Rng::with_seed(7);
    // From the first retry to where every power of two is far behind.
    for n in [0, 3, 5_000, u32::MAX] {
        let ceiling = Backoff::DEFAULT
            .with_jitter(Jitter::None)
            .delay(n, None, 0.0)
            .as_secs_f64();
        let delays: Vec<f64> = (0..10_000)
            .map(|_| Backoff::DEFAULT.delay(n, None, random.f64()).as_secs_f64())
            .collect();
        let mean = delays.iter().sum::<f64>() / 10_000.0;
        // Three standard deviations of the mean of 10,000 even draws.
        let spread = 3.0 * ceiling / (12.0_f64 * 10_000.0).sqrt();
        assert!((mean - ceiling / 2.0).abs() < spread, "n={n}: mean {mean}");
        let least = delays.iter().copied().fold(f64::MAX, f64::min);
        let most = delays.iter().copied().fold(0.0, f64::max);
        assert!(least < 0.01 * ceiling, "n={n}: least {least}");
        assert!(most > 0.99 * ceiling && most <= ceiling, "n={n}: {most}");
    }
}

#[test]
fn decorrelated_delays_grow_to_the_cap_and_stay_below_it() {
    let backoff = Backoff::DEFAULT.with_jitter(Jitter::Decorrelated);
    let mut random = fastrand::Rng::with_seed(3);
    let mut previous = None;
    let mut late = Duration::ZERO;
    for n in 0..1_000 {
        let delay = backoff.delay(n, previous, random.f64());
        assert!(delay >= backoff.base() && delay <= backoff.cap());
        if n >= 900 {
            late += delay;
        }
        previous = Some(delay);
    }
    // One that began afresh each time would have a mean of twice the base, 1 s.
    let mean = late / 100;
    assert!(
        mean > backoff.cap() / 10,
        "mean of the last hundred: {mean:?}"
    );
}
