//! The program is killed, again and again: it always finishes in the end, and no command whose
//! result was recorded runs again.
//!
//! `ORDER_SAGA_KILLS` sets how many kills each test makes.

use std::collections::BTreeSet;
use std::time::Duration;

use super::support::{Ended, Saga};

/// What the log of the requests comes to in the end, about, in bytes.
const REQUESTS_SIZE: u64 = 1_500_000;

fn kills() -> usize {
    std::env::var("ORDER_SAGA_KILLS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(20)
}

/// Lets `run` run the program, which may kill it, until the program ends by itself. After each kill
/// the results that are recorded are read from the store; from then on the world outside may not be
/// asked for any of them.
fn kill_until_finished(saga: &Saga, mut run: impl FnMut(&Saga, usize) -> Ended) {
    let mut recorded = BTreeSet::new();
    for round in 0.. {
        let before = saga.requests().len();
        let ended = run(saga, round);
        for request in &saga.requests()[before..] {
            assert!(
                !recorded.contains(&request.key),
                "round {round}: {} was recorded and ran again",
                request.key
            );
        }
        if ended.code.is_some() {
            ended.assert_finished();
            break;
        }
        let now = saga.recorded();
        assert!(
            now.is_superset(&recorded),
            "round {round}: results were lost: {:?}",
            recorded.difference(&now)
        );
        recorded = now;
    }
    let asked: BTreeSet<_> = saga
        .requests()
        .into_iter()
        .map(|request| request.key)
        .collect();
    assert!(
        !recorded.is_empty(),
        "the kills came before anything was recorded"
    );
    assert!(
        asked.is_superset(&recorded),
        "every recorded command was asked for"
    );
}

#[test]
fn killed_after_any_number_of_steps_it_goes_on_where_it_was() {
    let saga = Saga::new();
    let mut rng = fastrand::Rng::new();
    let seed = rng.get_seed();
    // The whole run has about 19,600 steps.
    let points: Vec<u64> = (0..kills())
        .map(|_| rng.u64(1..19_600 / kills() as u64))
        .collect();
    println!("seed {seed}: {points:?}");
    kill_until_finished(&saga, |saga, round| match points.get(round) {
        None => saga.run(&[]),
        Some(point) => {
            let ended = saga.run(&["--kill-after", &point.to_string()]);
            assert_eq!(ended.code, None, "killed: {ended:?}");
            ended
        }
    });
}

#[test]
fn killed_from_outside_at_any_time_it_goes_on_where_it_was() {
    let saga = Saga::new();
    let mut rng = fastrand::Rng::new();
    println!("seed {}", rng.get_seed());
    kill_until_finished(&saga, |saga, round| {
        let mut child = saga.command(&[]).spawn().expect("starts");
        if round < kills() {
            if round % 2 == 0 {
                // Soon: while the store opens, or just after.
                std::thread::sleep(Duration::from_millis(rng.u64(5..400)));
            } else {
                // Later, measured by what was done and not by the clock: the machine may be busy.
                let enough = saga.requests_size() + rng.u64(0..2 * REQUESTS_SIZE / kills() as u64);
                while saga.requests_size() < enough && child.try_wait().expect("a status").is_none()
                {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            child.kill().expect("killed");
        }
        Ended::from(child.wait_with_output().expect("ended"))
    });
}
