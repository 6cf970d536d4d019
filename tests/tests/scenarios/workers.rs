//! Two workers on one store: each execution is worked on by one, and goes on with the other.

use std::time::Duration;

use skail_runtime::clock::Clock as _;
use skail_runtime::history::{Event, Status};
use skail_runtime::prelude::*;
use skail_tests::{Cuts, Line, UnsteadyStore};

use super::support::{Bench, Gates, Runs, count, soon};

#[skail_command]
async fn is_worked_on(
    #[state] runs: &Runs,
    #[state] gates: &Gates,
    name: String,
) -> anyhow::Result<u32> {
    let run = runs.count(&name);
    gates.pass("worked on").await;
    Ok(run)
}

#[skail_function]
async fn is_shared(name: String) -> anyhow::Result<u32> {
    Ok(is_worked_on(name).await?)
}

fn completions(event: &Event) -> bool {
    matches!(
        event,
        Event::CommandCompleted { .. } | Event::Completed { .. }
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_of_many_executions_runs_once_and_both_workers_take_part() {
    let bench = Bench::new();
    let workers = [
        bench
            .builder()
            .max_running_executions(10)
            .start()
            .await
            .unwrap(),
        bench
            .builder()
            .max_running_executions(10)
            .start()
            .await
            .unwrap(),
    ];
    let mut executions = Vec::new();
    for number in 0..100 {
        let name = format!("work {number}");
        executions.push(workers[number % 2].start(is_shared(name)).await.unwrap());
    }
    // Twenty at the gate at once: more than one worker may hold.
    bench.gates.reached("worked on", 20).await;
    bench.gates.open("worked on", 100);
    for (number, execution) in executions.iter().enumerate() {
        assert_eq!(soon("all of them", execution.result()).await.unwrap(), 1);
        assert_eq!(bench.runs.of(&format!("work {number}")), 1);
        assert_eq!(count(execution, completions).await, 2);
    }
}

#[tokio::test]
async fn the_result_is_told_to_who_waits_at_the_worker_that_did_not_do_the_work() {
    let bench = Bench::new();
    let works = bench.engine().await;
    let id = ExecutionId::new("shared").unwrap();
    works
        .start(is_shared("told".to_owned()))
        .id(&id)
        .await
        .unwrap();
    bench.gates.reached("worked on", 1).await;
    let waits = bench.engine().await;
    let there = waits
        .start(is_shared("told".to_owned()))
        .id(&id)
        .await
        .unwrap();
    let result = async {
        let waiting = there.result();
        bench.gates.open("worked on", 1);
        waiting.await
    };
    assert_eq!(soon("the result", result).await.unwrap(), 1);
}

#[tokio::test]
async fn when_a_worker_dies_another_goes_on_once_its_lease_has_ended() {
    let bench = Bench::new();
    let start = bench.clock.now();
    let dies = bench.engine().await;
    let id = ExecutionId::new("orphan").unwrap();
    dies.start(is_shared("orphan".to_owned()))
        .id(&id)
        .await
        .unwrap();
    bench.gates.reached("worked on", 1).await;
    let lives = bench.engine().await;
    dies.kill().await;
    bench.gates.open("worked on", 1);
    let execution = lives.execution::<u32>(&id).await.unwrap();
    assert_eq!(soon("the other", execution.result()).await.unwrap(), 2);
    assert_eq!(
        bench.clock.since(start),
        Duration::from_secs(30),
        "the lease of the dead"
    );
    let started = |event: &Event| matches!(event, Event::CommandStarted { .. });
    assert_eq!(
        count(&execution, started).await,
        1,
        "its last owner may have died in the body"
    );
}

#[tokio::test]
async fn when_a_worker_shuts_down_another_goes_on_at_once() {
    let bench = Bench::new();
    let start = bench.clock.now();
    let store = UnsteadyStore::shared(bench.store.clone(), &Cuts::default());
    let builder = bench.builder().store(store).shutdown_grace(Duration::ZERO);
    let stops = builder.start().await.unwrap();
    let id = ExecutionId::new("handed over").unwrap();
    let call = is_shared("handed over".to_owned());
    stops.start(call).id(&id).await.unwrap();
    bench.gates.reached("worked on", 1).await;
    let goes_on = bench.engine().await;
    let still = bench.clock.working();
    soon("the shutdown", stops.shutdown()).await.unwrap();
    bench.gates.reached("worked on", 2).await;
    drop(still);
    bench.gates.open("worked on", 1);
    let execution = goes_on.execution::<u32>(&id).await.unwrap();
    assert_eq!(soon("the other", execution.result()).await.unwrap(), 2);
    assert_eq!(bench.clock.now(), start, "nobody waited for a lease to end");
    let started = |event: &Event| matches!(event, Event::CommandStarted { .. });
    assert_eq!(count(&execution, started).await, 0, "nobody died");
}

#[tokio::test]
async fn a_worker_that_could_not_renew_its_lease_is_too_late_with_what_it_did() {
    let bench = Bench::new();
    let cuts = Cuts::default();
    let store = UnsteadyStore::new(bench.store.clone(), &cuts);
    let cut_off = bench.builder().store(store).start().await.unwrap();
    let id = ExecutionId::new("contested").unwrap();
    cut_off
        .start(is_shared("contested".to_owned()))
        .id(&id)
        .await
        .unwrap();
    bench.gates.reached("worked on", 1).await;
    // It works on, but nobody hears of it: its lease ends, and another takes over.
    cuts.set(&[Line::Renew, Line::Claim]);
    let other = bench.engine().await;
    bench.clock.step(31_000);
    bench.gates.reached("worked on", 2).await;
    // The late one ends first, and its result is refused.
    bench.gates.open("worked on", 1);
    let execution = other.execution::<u32>(&id).await.unwrap();
    assert_eq!(execution.status().await.unwrap(), Status::Running);
    bench.gates.open("worked on", 1);
    assert_eq!(soon("the other", execution.result()).await.unwrap(), 2);
    assert_eq!(count(&execution, completions).await, 2);
    assert_eq!(bench.runs.of("contested"), 2);
}

#[tokio::test]
async fn a_worker_that_learns_of_its_lost_lease_stops_the_body() {
    let bench = Bench::new();
    let cuts = Cuts::default();
    let store = UnsteadyStore::new(bench.store.clone(), &cuts);
    let cut_off = bench.builder().store(store).start().await.unwrap();
    let id = ExecutionId::new("contested").unwrap();
    cut_off
        .start(is_shared("contested".to_owned()))
        .id(&id)
        .await
        .unwrap();
    bench.gates.reached("worked on", 1).await;
    cuts.set(&[Line::Renew, Line::Claim]);
    let other = bench.engine().await;
    bench.clock.step(31_000);
    bench.gates.reached("worked on", 2).await;
    cuts.set(&[]);
    bench.clock.step(10_000);
    let execution = other.execution::<u32>(&id).await.unwrap();
    // One permit is enough only once the first body no longer stands before the second.
    bench.gates.left("worked on", 1).await;
    bench.gates.open("worked on", 1);
    assert_eq!(soon("the other", execution.result()).await.unwrap(), 2);
}

#[tokio::test]
async fn a_clock_set_forward_does_not_make_a_worker_take_its_work_from_itself() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(is_shared("asleep".to_owned())).await.unwrap();
    bench.gates.reached("worked on", 1).await;
    // As after a night in which the machine slept.
    bench.clock.step(8 * 3_600_000);
    let other = skail.start(is_shared("awake".to_owned())).await.unwrap();
    bench.gates.reached("worked on", 2).await;
    bench.gates.open("worked on", 2);
    assert_eq!(
        (
            execution.result().await.unwrap(),
            other.result().await.unwrap()
        ),
        (1, 1)
    );
    assert_eq!(bench.runs.of("asleep"), 1);
}
