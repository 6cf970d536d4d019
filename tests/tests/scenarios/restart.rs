//! A process that starts takes up what is unfinished, by itself, and leaves what is finished.

use skail_runtime::ExecutionError;
use skail_runtime::history::{Event, Status};
use skail_runtime::prelude::*;
use skail_runtime::store::{Query, StoreError};

use super::support::{Bench, Gates, Runs, count, soon};

#[skail_command]
async fn counts_itself(#[state] runs: &Runs, name: String) -> anyhow::Result<u32> {
    Ok(runs.count(&name))
}

#[skail_command]
async fn waits_for_the_test(#[state] gates: &Gates, #[state] runs: &Runs) -> anyhow::Result<()> {
    let _gone = Gone(runs.clone());
    gates.pass("the test").await;
    Ok(())
}

struct Gone(Runs);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.count("gone");
    }
}

#[skail_function]
async fn counts_and_waits(name: String, waits: bool) -> anyhow::Result<u32> {
    let count = counts_itself(name).await?;
    if waits {
        waits_for_the_test().await?;
    }
    Ok(count)
}

#[tokio::test]
async fn every_unfinished_execution_is_taken_up_and_finished_ones_stay() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    for number in 0..30 {
        let call = counts_and_waits(format!("done {number}"), false);
        let execution = skail
            .start(call)
            .id(format!("done {number}"))
            .await
            .unwrap();
        execution.result().await.unwrap();
    }
    for number in 0..30 {
        let call = counts_and_waits(format!("open {number}"), true);
        skail
            .start(call)
            .id(format!("open {number}"))
            .await
            .unwrap();
    }
    bench.gates.reached("the test", 30).await;

    let skail = bench.crash(skail).await;
    bench.gates.reached("the test", 60).await;
    bench.gates.open("the test", 60);
    for number in 0..30 {
        let id = ExecutionId::new(format!("open {number}")).unwrap();
        let execution = skail.execution::<u32>(&id).await.unwrap();
        assert_eq!(execution.result().await.unwrap(), 1);
        assert_eq!(
            bench.runs.of(&format!("open {number}")),
            1,
            "a recorded step ran again"
        );
        let id = ExecutionId::new(format!("done {number}")).unwrap();
        let execution = skail.execution::<u32>(&id).await.unwrap();
        assert_eq!(execution.result().await.unwrap(), 1);
        let completed = |event: &Event| matches!(event, Event::Completed { .. });
        assert_eq!(count(&execution, completed).await, 1);
    }
}

#[tokio::test]
async fn ten_crashes_in_a_row_lose_nothing_and_repeat_no_recorded_step() {
    let mut bench = Bench::new();
    let mut skail = bench.engine().await;
    let id = ExecutionId::new("unlucky").unwrap();
    skail
        .start(counts_and_waits("unlucky".to_owned(), true))
        .id(&id)
        .await
        .unwrap();
    for crash in 1..=3 {
        bench.gates.reached("the test", crash).await;
        skail = bench.crash(skail).await;
    }
    bench.gates.open("the test", 1);
    let execution = skail.execution::<u32>(&id).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 1);
}

/// Notes how often the function had passed its ten steps when this body began.
#[skail_command]
async fn notes_when_it_begins(#[state] runs: &Runs, #[state] gates: &Gates) -> anyhow::Result<()> {
    let passed = runs.of("passed ten steps");
    runs.count(&format!("began after {passed}"));
    gates.pass("noted").await;
    Ok(())
}

#[skail_function]
async fn has_an_old_step_open(#[state] runs: &Runs) -> anyhow::Result<()> {
    let steps = async {
        for _ in 0..10 {
            counts_itself("one of ten".to_owned()).await?;
        }
        runs.count("passed ten steps");
        Ok(())
    };
    futures::try_join!(notes_when_it_begins(), steps)?;
    Ok(())
}

#[tokio::test]
async fn no_body_begins_before_the_whole_history_has_been_replayed() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("open").unwrap();
    skail.start(has_an_old_step_open()).id(&id).await.unwrap();
    bench.runs.reached("passed ten steps", 1).await;
    bench.gates.reached("noted", 1).await;

    let skail = bench.crash(skail).await;
    bench.gates.reached("noted", 2).await;
    bench.gates.open("noted", 1);
    let execution = skail.execution::<()>(&id).await.unwrap();
    execution.result().await.unwrap();
    let began = |after: u32| bench.runs.of(&format!("began after {after}"));
    assert_eq!([began(0), began(1), began(2)], [1, 0, 1]);
}

#[tokio::test]
async fn when_the_last_handle_is_dropped_everything_stops_and_who_waits_is_told() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let another = skail.clone();
    let execution = skail
        .start(counts_and_waits("dropped".to_owned(), true))
        .await
        .unwrap();
    bench.gates.reached("the test", 1).await;
    drop(skail);
    assert_eq!(bench.runs.of("gone"), 0, "there is a handle left");
    let (ended, ()) = futures::join!(soon("the end", execution.result()), async { drop(another) });
    assert!(
        matches!(ended, Err(ExecutionError::Store(StoreError::Closed))),
        "{ended:?}"
    );
    bench.runs.reached("gone", 1).await;
    let late = soon("the end", execution.result()).await;
    assert!(
        matches!(late, Err(ExecutionError::Store(StoreError::Closed))),
        "{late:?}"
    );

    bench.store = bench.store.crash();
    let skail = bench.engine().await;
    bench.gates.open("the test", 1);
    let execution = skail.execution::<u32>(execution.id()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 1);
}

#[tokio::test]
async fn an_execution_that_cannot_be_read_is_named_and_the_others_go_on() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let damaged = ExecutionId::new("damaged").unwrap();
    skail
        .start(counts_and_waits("damaged".to_owned(), true))
        .id(&damaged)
        .await
        .unwrap();
    let id = ExecutionId::new("healthy").unwrap();
    skail
        .start(counts_and_waits("healthy".to_owned(), true))
        .id(&id)
        .await
        .unwrap();
    bench.gates.reached("the test", 2).await;
    assert!(bench.store.damage(&damaged));

    let skail = bench.crash(skail).await;
    bench.gates.open("the test", 2);
    let healthy = skail.execution::<u32>(&id).await.unwrap();
    assert_eq!(healthy.result().await.unwrap(), 1);
    let error = skail
        .execution::<u32>(&damaged)
        .await
        .map(drop)
        .unwrap_err();
    assert!(
        error.to_string().starts_with("execution `damaged`: "),
        "{error}"
    );
    let page = skail
        .list(Query {
            limit: 10,
            ..Query::default()
        })
        .await
        .unwrap();
    assert_eq!((page.headers.len(), &page.damaged[..]), (1, &[damaged][..]));
}

#[tokio::test]
async fn damage_that_is_met_while_it_runs_ends_the_wait_and_sets_it_aside() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail
        .start(counts_and_waits("rotten".to_owned(), true))
        .await
        .unwrap();
    bench.gates.reached("the test", 1).await;
    assert!(bench.store.damage(execution.id()));
    bench.gates.open("the test", 1);
    let error = soon("the damage", execution.result()).await.unwrap_err();
    assert!(
        matches!(error, ExecutionError::Store(StoreError::Damaged { .. })),
        "{error}"
    );

    let other = skail
        .start(counts_and_waits("beside".to_owned(), false))
        .await
        .unwrap();
    assert_eq!(other.result().await.unwrap(), 1);
    assert_eq!(other.status().await.unwrap(), Status::Completed);
}
