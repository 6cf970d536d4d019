//! What waits for its turn has not begun, and costs nothing when the process dies.

use futures::future::try_join_all;
use skail_runtime::history::Event;
use skail_runtime::prelude::*;

use super::support::{Bench, Gates, Runs, count};

#[skail_command]
async fn takes_its_turn(
    #[state] runs: &Runs,
    #[state] gates: &Gates,
    number: u32,
) -> anyhow::Result<u32> {
    runs.count("takes_its_turn");
    gates.pass("turns").await;
    Ok(attempt().number + number)
}

#[skail_function]
async fn takes_three_turns() -> anyhow::Result<Vec<u32>> {
    Ok(try_join_all((0..3).map(takes_its_turn)).await?)
}

fn is_start(event: &Event) -> bool {
    matches!(event, Event::CommandStarted { .. })
}

#[tokio::test]
async fn an_attempt_that_waited_for_its_turn_when_the_process_died_is_not_counted() {
    let mut bench = Bench::new();
    let id = ExecutionId::new("turns").unwrap();
    let mut skail = bench
        .builder()
        .max_running_commands(1)
        .start()
        .await
        .unwrap();
    skail.start(takes_three_turns()).id(&id).await.unwrap();
    for life in 1..=4 {
        // One has its turn and dies in it; the other two never had one.
        bench.gates.reached("turns", life).await;
        let execution = skail.execution::<Vec<u32>>(&id).await.unwrap();
        assert_eq!(
            count(&execution, is_start).await,
            life as usize - 1,
            "life {life}"
        );
        skail.kill().await;
        bench.store = bench.store.crash();
        skail = bench
            .builder()
            .max_running_commands(1)
            .start()
            .await
            .unwrap();
    }
    bench.gates.open("turns", 3);
    let execution = skail.execution::<Vec<u32>>(&id).await.unwrap();
    let attempts = execution.result().await.unwrap();
    // The first life is not recorded. Each of the others cost the one that had its turn an attempt, and
    // while that one waited for its next, another had its turn.
    assert_eq!(attempts, [2, 2 + 1, 2 + 2]);
    assert_eq!(bench.runs.of("takes_its_turn"), 4 + 3);
}

#[skail_command(timeout = "10s")]
async fn is_quick_but_yields() -> anyhow::Result<()> {
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
    Ok(tokio::task::spawn_blocking(|| ()).await?)
}

#[skail_function(retry_count = 0)]
async fn does_it_thrice() -> anyhow::Result<()> {
    for _ in 0..3 {
        is_quick_but_yields().retry_count(0).await?;
    }
    Ok(())
}

#[tokio::test]
async fn no_time_passes_while_a_body_with_a_timeout_does_something() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let start = skail_runtime::clock::Clock::now(&bench.clock);
    skail
        .start(does_it_thrice())
        .await
        .unwrap()
        .result()
        .await
        .unwrap();
    assert_eq!(bench.clock.since(start), std::time::Duration::ZERO);
}
