//! The attempt table, row by row: how often a body runs.

use skail_runtime::history::{Event, Status};
use skail_runtime::prelude::*;

use super::support::{Bench, Runs};

#[skail_command]
async fn always_fails(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("always_fails");
    anyhow::bail!("the cupboard is bare")
}

#[skail_function(retry_count = 0)]
async fn catches() -> anyhow::Result<u32> {
    match always_fails().await {
        Ok(()) => anyhow::bail!("it cannot succeed"),
        Err(error) => Ok(error.attempts()),
    }
}

#[tokio::test]
async fn a_command_that_always_fails_runs_six_times() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let attempts = skail
        .start(catches())
        .await
        .unwrap()
        .result()
        .await
        .unwrap();
    assert_eq!((attempts, bench.runs.of("always_fails")), (6, 6));
    skail.shutdown().await.unwrap();
}

#[skail_function]
async fn never_catches() -> anyhow::Result<()> {
    always_fails().await?;
    Ok(())
}

#[tokio::test]
async fn a_command_that_is_never_caught_runs_sixteen_times_six_times() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(never_catches()).await.unwrap();
    let error = execution.result().await.unwrap_err();
    assert!(
        matches!(
            error,
            skail_runtime::ExecutionError::Failed { attempts: 16, .. }
        ),
        "{error}"
    );
    assert_eq!(bench.runs.of("always_fails"), 16 * 6);
    assert_eq!(execution.status().await.unwrap(), Status::Failed);
    let history = execution.history().await.unwrap();
    let redeliveries = history.iter().filter(|event| {
        matches!(
            event,
            Event::FunctionAttemptFailed {
                retry_at: Some(_),
                ..
            }
        )
    });
    assert_eq!(redeliveries.count(), 15);
    skail.shutdown().await.unwrap();
}
