//! A store that does what it is asked and cannot say so.

use skail_runtime::history::Event;
use skail_runtime::prelude::*;
use skail_tests::{Cuts, Line, UnsteadyStore};

use super::support::{Bench, Runs, count, soon};

#[skail_command(retry_count = 0)]
async fn may_run_once(#[state] runs: &Runs, name: String) -> anyhow::Result<u32> {
    Ok(runs.count(&name))
}

#[skail_command(retry_count = 1)]
async fn fails_at_first(#[state] runs: &Runs) -> anyhow::Result<u32> {
    let run = runs.count("fails_at_first");
    anyhow::ensure!(run == 2, "run {run}");
    Ok(run)
}

#[skail_function(retry_count = 1)]
async fn is_recorded_and_never_told(#[state] runs: &Runs) -> anyhow::Result<u32> {
    let one = may_run_once("one".to_owned()).await?;
    let two = fails_at_first().await?;
    let attempt = runs.count("attempts of the function");
    anyhow::ensure!(attempt == 2, "attempt {attempt}");
    Ok(one + two + may_run_once("three".to_owned()).await?)
}

#[tokio::test]
async fn a_commit_whose_every_answer_is_lost_is_recognized_and_nothing_runs_twice() {
    let bench = Bench::new();
    let cuts = Cuts::default();
    let store = UnsteadyStore::new(bench.store.clone(), &cuts);
    let skail = bench.builder().store(store).start().await.unwrap();
    cuts.set(&[Line::Answer]);
    let execution = skail.start(is_recorded_and_never_told()).await.unwrap();
    // Between a try and the next one time has to pass.
    let passing = async {
        loop {
            bench.clock.step(100);
            tokio::task::yield_now().await;
        }
    };
    let result = async {
        tokio::select! {
            result = execution.result() => result,
            () = passing => unreachable!("time passes for ever"),
        }
    };
    let result = soon("the result", result).await;
    assert_eq!(result.unwrap(), 1 + 2 + 1);
    let runs = ["one", "fails_at_first", "three"].map(|name| bench.runs.of(name));
    assert_eq!(runs, [1, 2, 1]);
    let completed = |event: &Event| matches!(event, Event::CommandCompleted { .. });
    assert_eq!(count(&execution, completed).await, 3);
}
