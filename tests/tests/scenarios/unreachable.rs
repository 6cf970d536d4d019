//! A store that cannot be reached for a while: work waits, and no attempt of the user's code is lost.

use std::time::Duration;

use skail_runtime::history::Event;
use skail_runtime::prelude::*;
use skail_runtime::store::StoreError;
use skail_tests::{Cuts, Line, UnsteadyStore};

use super::support::{Bench, Gates, Runs, count, soon};

#[skail_command(retry_count = 0)]
async fn must_not_run_twice(
    #[state] runs: &Runs,
    #[state] gates: &Gates,
    name: String,
) -> anyhow::Result<u32> {
    let run = runs.count(&name);
    gates.pass(&name).await;
    Ok(run)
}

#[skail_function(retry_count = 0)]
async fn has_two_steps(name: String) -> anyhow::Result<u32> {
    let one = must_not_run_twice(format!("{name}, one")).await?;
    let two = must_not_run_twice(format!("{name}, two")).await?;
    Ok(one + two)
}

/// An engine on a store whose lines the test can cut.
async fn unsteady(bench: &Bench) -> (Skail, Cuts) {
    let cuts = Cuts::default();
    let store = UnsteadyStore::new(bench.store.clone(), &cuts);
    let skail = bench.builder().store(store).start().await.unwrap();
    (skail, cuts)
}

/// Lets time pass until the cut was noticed `times` times.
async fn noticed(bench: &Bench, cuts: &Cuts, times: u32) {
    let noticed = async {
        while cuts.noticed() < times {
            bench.clock.step(100);
            tokio::task::yield_now().await;
        }
    };
    soon("the engine to notice", noticed).await;
}

#[tokio::test]
async fn a_result_waits_for_the_store_to_come_back_and_no_body_runs_twice() {
    let bench = Bench::new();
    let (skail, cuts) = unsteady(&bench).await;
    let execution = skail.start(has_two_steps("a".to_owned())).await.unwrap();
    bench.gates.reached("a, one", 1).await;
    cuts.set(&[Line::Claim, Line::Read, Line::Commit, Line::Renew]);
    bench.gates.open("a, one", 1);
    bench.gates.open("a, two", 1);
    noticed(&bench, &cuts, 10).await;
    cuts.set(&[]);
    bench.clock.step(5_000);
    assert_eq!(soon("the result", execution.result()).await.unwrap(), 2);
    let burnt = |event: &Event| {
        matches!(
            event,
            Event::CommandAttemptFailed { .. } | Event::FunctionAttemptFailed { .. }
        )
    };
    assert_eq!(count(&execution, burnt).await, 0);
}

#[tokio::test]
async fn each_line_to_the_store_may_be_cut_for_a_while_and_work_goes_on_after_it() {
    for line in [Line::Claim, Line::Read, Line::Commit, Line::Renew] {
        let bench = Bench::new();
        let (skail, cuts) = unsteady(&bench).await;
        let running = skail.start(has_two_steps("x".to_owned())).await.unwrap();
        let delay = Duration::from_secs(11);
        let later = skail
            .start(has_two_steps("y".to_owned()))
            .delay(delay)
            .await
            .unwrap();
        bench.gates.reached("x, one", 1).await;
        cuts.set(&[line]);
        if line != Line::Renew {
            // What holds a lease has to stay for its renewal to be noticed.
            bench.gates.open("x, one", 1);
        }
        noticed(&bench, &cuts, 1).await;
        for gate in ["x, one", "x, two", "y, one", "y, two"] {
            bench.gates.open(gate, 1);
        }
        cuts.set(&[]);
        bench.clock.step(5_000);
        let what = format!("the results after {line:?} was cut");
        for execution in [&running, &later] {
            assert_eq!(soon(&what, execution.result()).await.unwrap(), 2);
        }
    }
}

#[tokio::test]
async fn a_worker_that_cannot_renew_claims_nothing_from_itself() {
    let bench = Bench::new();
    let (skail, cuts) = unsteady(&bench).await;
    let running = skail.start(has_two_steps("x".to_owned())).await.unwrap();
    bench.gates.reached("x, one", 1).await;
    cuts.set(&[Line::Renew]);
    bench.clock.step(31_000);
    let other = skail.start(has_two_steps("y".to_owned())).await.unwrap();
    noticed(&bench, &cuts, 3).await;
    cuts.set(&[]);
    bench.clock.step(5_000);
    for gate in ["x, one", "x, two", "y, one", "y, two"] {
        bench.gates.open(gate, 1);
    }
    for execution in [&running, &other] {
        assert_eq!(soon("the results", execution.result()).await.unwrap(), 2);
    }
}

#[tokio::test]
async fn a_shutdown_waits_for_the_store_no_longer_than_its_grace() {
    let bench = Bench::new();
    let (skail, cuts) = unsteady(&bench).await;
    let execution = skail.start(has_two_steps("x".to_owned())).await.unwrap();
    bench.gates.reached("x, one", 1).await;
    cuts.set(&[Line::Commit, Line::Release]);
    bench.gates.open("x, one", 1);
    let time_passes = async {
        loop {
            bench.clock.step(1_000);
            tokio::task::yield_now().await;
        }
    };
    let shut = soon("the shutdown", async {
        tokio::select! {
            shut = skail.shutdown() => shut,
            () = time_passes => unreachable!(),
        }
    });
    let error = shut.await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    assert!(execution.result().await.is_err());
}
