//! Whoever waits for a result hears of it, however many wait and whatever happens at the same time.

use skail_runtime::ExecutionError;
use skail_runtime::prelude::*;
use tokio::task::JoinSet;

use super::support::{Bench, Runs, soon};

#[skail_function(retry_count = 0)]
async fn is_resumed_once(#[state] runs: &Runs, name: String) -> anyhow::Result<u32> {
    let run = runs.count(&name);
    anyhow::ensure!(run > 1, "the first time");
    Ok(run)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn three_waiters_of_each_of_many_executions_all_hear_of_failure_and_result() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let mut waiters = JoinSet::new();
    for number in 0..200 {
        let name = format!("execution {number}");
        for waiter in 0..3 {
            let (skail, name) = (skail.clone(), name.clone());
            waiters.spawn(async move {
                let start = skail.start(is_resumed_once(name.clone())).id(&name);
                let execution = start.await.unwrap();
                loop {
                    match execution.result().await {
                        Ok(run) => return run,
                        // One of them resumes; the others wait for what comes of it.
                        Err(ExecutionError::Failed { .. }) if waiter == 0 => {
                            execution.resume().await.unwrap();
                        }
                        Err(ExecutionError::Failed { .. }) => tokio::task::yield_now().await,
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    }
    let runs = soon("all of them", waiters.join_all()).await;
    assert_eq!(runs, [2; 600]);
}
