//! A call that is dropped, because it lost a race for instance: its body stops, and nobody hears of it.

use futures::future::{Either, select};
use skail_runtime::Position;
use skail_runtime::history::Event;
use skail_runtime::prelude::*;

use super::support::{Bench, Gates, Runs, count};

#[skail_command]
async fn races(
    #[state] runs: &Runs,
    #[state] gates: &Gates,
    name: String,
) -> anyhow::Result<String> {
    runs.count(&name);
    gates.pass(&name).await;
    Ok(name)
}

#[skail_command(backoff(base = "1h", cap = "1h", jitter = "none"))]
async fn fails_hourly(#[state] runs: &Runs) -> anyhow::Result<String> {
    runs.count("hourly");
    anyhow::bail!("come back in an hour")
}

#[skail_function]
async fn takes_the_first() -> anyhow::Result<String> {
    let race = select(races("fast".to_owned()), races("slow".to_owned()));
    let first = match race.await {
        Either::Left((first, _)) | Either::Right((first, _)) => first?,
    };
    races("after".to_owned()).await?;
    Ok(first)
}

fn is_of(position: u32) -> impl Fn(&Event) -> bool {
    move |event| {
        let step = event.step();
        step.is_some_and(|step| step.position == Position(position))
    }
}

#[tokio::test]
async fn the_body_of_a_call_that_lost_its_race_is_stopped_and_leaves_no_record() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("race").unwrap();
    skail.start(takes_the_first()).id(&id).await.unwrap();
    bench.gates.reached("slow", 1).await;
    bench.gates.open("fast", 1);
    bench.gates.reached("after", 1).await;
    bench.gates.left("slow", 0).await;

    // In replay it loses again, and its body does not even begin.
    let skail = bench.crash(skail).await;
    bench.gates.reached("after", 2).await;
    bench.gates.open("slow", 1);
    bench.gates.open("after", 1);
    let execution = skail.execution::<String>(&id).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), "fast");
    assert_eq!((bench.runs.of("fast"), bench.runs.of("slow")), (1, 1));
    assert_eq!(count(&execution, is_of(1)).await, 0);
}

#[skail_function]
async fn gives_up_waiting() -> anyhow::Result<String> {
    let race = select(races("fast".to_owned()), fails_hourly());
    let first = match race.await {
        Either::Left((first, _)) | Either::Right((first, _)) => first?,
    };
    races("after".to_owned()).await?;
    Ok(first)
}

#[tokio::test]
async fn a_call_that_is_dropped_between_two_attempts_has_no_further_one() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(gives_up_waiting()).await.unwrap();
    bench.runs.reached("hourly", 1).await;
    bench.gates.open("fast", 1);
    bench.gates.reached("after", 1).await;
    bench.clock.step(2 * 3_600_000);
    bench.gates.open("after", 1);
    assert_eq!(execution.result().await.unwrap(), "fast");
    assert_eq!(bench.runs.of("hourly"), 1);
}

#[skail_function]
async fn drops_a_call_that_has_its_result() -> anyhow::Result<Vec<String>> {
    let mut results = Vec::new();
    let mut both = (races("one".to_owned()), races("other".to_owned()));
    // Both are steps from here on, and both end while the function looks at neither.
    let _ = futures::poll!(&mut both.0);
    let _ = futures::poll!(&mut both.1);
    results.push(races("after".to_owned()).await?);
    results.push(both.1.await?);
    drop(both.0);
    results.push(races("last".to_owned()).await?);
    Ok(results)
}

#[tokio::test]
async fn results_that_came_while_nobody_looked_are_there_later_and_swap_with_none() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("unlooked").unwrap();
    let call = drops_a_call_that_has_its_result();
    skail.start(call).id(&id).await.unwrap();
    bench.gates.open("other", 1);
    bench.gates.open("one", 1);
    bench.gates.left("one", 0).await;
    bench.gates.open("after", 1);
    bench.gates.reached("last", 1).await;
    let skail = bench.crash(skail).await;
    bench.gates.open("last", 1);
    let execution = skail.execution::<Vec<String>>(&id).await.unwrap();
    let results = ["after", "other", "last"];
    assert_eq!(execution.result().await.unwrap(), results);
    for name in ["one", "other", "after"] {
        assert_eq!(bench.runs.of(name), 1, "{name}");
    }
}
