//! Durable timers: when they end is recorded when they begin, and a long one needs no memory.

use std::time::{Duration, SystemTime};

use skail_runtime::clock::{Clock as _, Timestamp};
use skail_runtime::history::{Event, Status};
use skail_runtime::prelude::*;

use super::deploying::{blocked, redeployed};
use super::support::Line::{Charge, Gate, Now, Reserve, Sleep, SleepUntil};
use super::support::{Bench, Gates, Runs, count, recorded, soon};

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);

fn set(event: &Event) -> bool {
    matches!(event, Event::TimerSet { .. })
}

fn fired(event: &Event) -> bool {
    matches!(event, Event::TimerFired { .. })
}

#[skail_function]
async fn sleeps(#[state] runs: &Runs, wait: Duration) -> anyhow::Result<Duration> {
    runs.count("sleeps");
    let before = now().await?;
    sleep(wait).await?;
    Ok(now().await?.duration_since(before)?)
}

/// Waits until the timer of an execution is recorded, while the clock stands still.
async fn asleep(skail: &Skail, id: &ExecutionId, wait: Duration) -> Execution<Duration> {
    let execution = skail.start(sleeps(wait)).id(id).await.unwrap();
    recorded(&execution, set).await;
    execution
}

#[tokio::test]
async fn a_sleep_takes_as_long_as_it_says_a_long_one_leaves_memory_and_a_short_one_does_not() {
    for (wait, runs) in [(Duration::from_secs(9), 1), (DAY * 365, 2)] {
        let bench = Bench::new();
        let skail = bench.engine().await;
        let execution = skail.start(sleeps(wait)).await.unwrap();
        assert_eq!(execution.result().await.unwrap(), wait);
        assert_eq!(bench.runs.of("sleeps"), runs, "{wait:?}");
        assert_eq!(
            (count(&execution, set).await, count(&execution, fired).await),
            (1, 1)
        );
    }
}

#[tokio::test]
async fn how_long_is_long_is_a_setting() {
    for (warm, runs) in [(Duration::ZERO, 2), (DAY, 1)] {
        let bench = Bench::new();
        let skail = bench.builder().warm_period(warm).start().await.unwrap();
        let execution = skail.start(sleeps(HOUR)).await.unwrap();
        assert_eq!(execution.result().await.unwrap(), HOUR);
        assert_eq!(bench.runs.of("sleeps"), runs, "{warm:?}");
    }
}

#[tokio::test]
async fn neither_a_crash_nor_a_shutdown_restarts_or_shortens_a_sleep() {
    for wait in [Duration::from_secs(8), HOUR] {
        let mut bench = Bench::new();
        let skail = bench.engine().await;
        let id = ExecutionId::new("sleeper").unwrap();
        let still = bench.clock.working();
        asleep(&skail, &id, wait).await;
        let part = i64::try_from(wait.as_millis() / 4).unwrap();
        bench.clock.step(part);
        let skail = bench.crash(skail).await;
        bench.clock.step(part);
        skail.shutdown().await.unwrap();
        bench.store = bench.store.crash();
        bench.clock.step(part);
        let skail = bench.engine().await;
        drop(still);
        let execution = skail.execution::<Duration>(&id).await.unwrap();
        assert_eq!(execution.result().await.unwrap(), wait);
        assert_eq!(count(&execution, set).await, 1);
    }
}

#[tokio::test]
async fn one_that_is_over_when_the_process_starts_again_ends_at_once() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("late").unwrap();
    let still = bench.clock.working();
    asleep(&skail, &id, HOUR).await;
    skail.kill().await;
    bench.store = bench.store.crash();
    bench.clock.step(10 * 3_600_000);
    let skail = bench.engine().await;
    let execution = skail.execution::<Duration>(&id).await.unwrap();
    // The clock still stands: nothing waits for it.
    let waited = soon("the end of the sleep", execution.result())
        .await
        .unwrap();
    assert_eq!(waited, HOUR * 10);
    drop(still);
}

#[tokio::test]
async fn a_clock_that_is_set_back_makes_a_sleep_neither_end_early_nor_never() {
    for wait in [Duration::from_secs(8), HOUR] {
        let bench = Bench::new();
        let skail = bench.engine().await;
        let id = ExecutionId::new("sleeper").unwrap();
        let still = bench.clock.working();
        let execution = asleep(&skail, &id, wait).await;
        let due = bench.clock.now().saturating_add(wait);
        bench.clock.step(-24 * 3_600_000);
        drop(still);
        assert_eq!(execution.result().await.unwrap(), wait);
        let history = execution.history().await.unwrap();
        let ends = history.iter().find(|event| fired(event)).unwrap().at();
        assert_eq!(ends, due);
    }
}

#[tokio::test]
async fn a_clock_that_is_set_forward_ends_a_sleep_when_the_new_time_says_so() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("sleeper").unwrap();
    let still = bench.clock.working();
    let execution = asleep(&skail, &id, HOUR).await;
    bench.clock.step(24 * 3_600_000);
    let waited = soon("the end of the sleep", execution.result())
        .await
        .unwrap();
    assert_eq!(waited, DAY);
    drop(still);
}

#[skail_function]
async fn sleeps_until(time: SystemTime) -> anyhow::Result<SystemTime> {
    sleep_until(time).await?;
    Ok(now().await?)
}

#[tokio::test]
async fn a_sleep_until_a_time_ends_then_or_at_once_if_that_has_passed() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let start = SystemTime::from(bench.clock.now());
    let later = start + DAY * 300 + Duration::from_micros(1);
    let ended = skail
        .start(sleeps_until(later))
        .await
        .unwrap()
        .result()
        .await
        .unwrap();
    assert_eq!(
        ended,
        start + DAY * 300 + Duration::from_millis(1),
        "never early"
    );
    let ended = skail
        .start(sleeps_until(start))
        .await
        .unwrap()
        .result()
        .await
        .unwrap();
    assert_eq!(
        ended,
        later - Duration::from_micros(1) + Duration::from_millis(1)
    );
    let long_ago = SystemTime::UNIX_EPOCH;
    skail
        .start(sleeps_until(long_ago))
        .await
        .unwrap()
        .result()
        .await
        .unwrap();
}

#[skail_function]
async fn sleeps_for_ever(until: bool) -> anyhow::Result<()> {
    if until {
        sleep_until(Timestamp::MAX).await?;
    } else {
        sleep(Duration::MAX).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_sleep_too_long_to_be_written_down_is_for_ever_and_holds_nobody_up() {
    let mut bench = Bench::new();
    let mut skail = bench.engine().await;
    let mut ids = Vec::new();
    for until in [true, false] {
        let execution = skail.start(sleeps_for_ever(until)).await.unwrap();
        recorded(&execution, set).await;
        ids.push(execution.id().clone());
    }
    for _ in 0..2 {
        let before = bench.clock.now();
        let short = skail.start(sleeps(DAY)).await.unwrap();
        assert_eq!(short.result().await.unwrap(), DAY);
        assert_eq!(bench.clock.since(before), DAY, "the clock did not pass by");
        for id in &ids {
            let header = skail
                .execution::<()>(id)
                .await
                .unwrap()
                .header()
                .await
                .unwrap();
            assert_eq!(
                (header.status, header.due),
                (Status::Running, Some(Timestamp::MAX))
            );
        }
        skail = bench.crash(skail).await;
    }
    skail.shutdown().await.unwrap();
}

#[skail_function]
async fn races_sleeps(#[state] runs: &Runs) -> anyhow::Result<Vec<u32>> {
    use futures::StreamExt as _;
    use futures::stream::FuturesUnordered;
    runs.count("races");
    let mut order = Vec::new();
    let mut all: FuturesUnordered<_> = [5, 1, 3, 0]
        .into_iter()
        .map(|hours| async move { sleep(HOUR * hours).await.map(|()| hours) })
        .collect();
    while let Some(hours) = all.next().await {
        order.push(hours?);
    }
    let won = tokio::select! {
        biased;
        _ = sleep(HOUR * 9) => 9,
        _ = sleep(HOUR * 7) => 7,
    };
    order.push(won);
    sleep(HOUR * 4).await?;
    let (one, other) = tokio::join!(sleep(HOUR), sleep(HOUR * 2));
    one.and(other)?;
    Ok(order)
}

#[tokio::test]
async fn sleeps_end_in_the_order_of_their_times_and_the_loser_of_a_race_never_does() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let start = bench.clock.now();
    let execution = skail.start(races_sleeps()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), [0, 1, 3, 5, 7]);
    assert_eq!(bench.clock.since(start), HOUR * (5 + 7 + 4 + 2));
    let all = (count(&execution, set).await, count(&execution, fired).await);
    assert_eq!(
        all,
        (9, 8),
        "the loser's time has passed and it has not ended"
    );
    assert!(bench.runs.of("races") > 5, "each wait left memory");
}

#[skail_command]
async fn waits_at(#[state] gates: &Gates, gate: String) -> anyhow::Result<String> {
    gates.pass(&gate).await;
    Ok(gate)
}

#[skail_function]
async fn sleeps_beside_a_command() -> anyhow::Result<String> {
    let (gate, slept) = tokio::join!(waits_at("beside".to_owned()), async {
        sleep(DAY).await?;
        waits_at("slept".to_owned()).await?;
        anyhow::Ok(())
    });
    slept?;
    Ok(gate?)
}

#[tokio::test]
async fn while_a_command_runs_a_sleep_ends_in_memory_and_the_command_is_left_alone() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let still = bench.clock.working();
    let execution = skail.start(sleeps_beside_a_command()).await.unwrap();
    bench.gates.reached("beside", 1).await;
    recorded(&execution, set).await;
    bench.clock.step(24 * 3_600_000);
    bench.gates.reached("slept", 1).await;
    bench.gates.open("slept", 1);
    bench.gates.open("beside", 1);
    assert_eq!(execution.result().await.unwrap(), "beside");
    drop(still);
}

#[tokio::test]
async fn code_that_sleeps_for_another_time_goes_on_with_the_time_that_was_recorded() {
    let zero = Sleep(Duration::ZERO);
    for (before, after) in [
        (zero.clone(), Sleep(HOUR)),
        (Sleep(HOUR), zero),
        (Sleep(HOUR), Sleep(DAY)),
    ] {
        let mut bench = Bench::new();
        let old = [before, Charge("a"), Gate("old")];
        let new = [after, Charge("a"), Gate("old"), Gate("new")];
        let (_skail, execution) = redeployed(&mut bench, &old, &new).await;
        bench.gates.open("old", 1);
        bench.gates.open("new", 1);
        let results = ["charged a", "passed old", "passed new"];
        assert_eq!(execution.result().await.unwrap(), results);
        assert_eq!(
            (count(&execution, set).await, count(&execution, fired).await),
            (1, 1)
        );
    }
}

#[tokio::test]
async fn another_step_where_a_sleep_is_recorded_blocks_with_both_in_the_message() {
    let until = SleepUntil(Timestamp::from_millis(0));
    let sleep = Sleep(Duration::from_millis(1));
    let steps = [
        (sleep, "timer `sleep`"),
        (until, "timer `sleep_until`"),
        (Now, "value `now`"),
        (Reserve("a"), "command `reserve` with arguments [\"a\"]"),
    ];
    for (there, recorded) in &steps {
        for (other, asked) in steps.iter().filter(|(_, asked)| asked != recorded) {
            let mut bench = Bench::new();
            let old = [Charge("x"), there.clone(), Gate("old")];
            let new = [Charge("x"), other.clone(), Gate("old")];
            let (_skail, execution) = redeployed(&mut bench, &old, &new).await;
            let message = blocked(&execution).await;
            let says = format!(
                "at position 1 the history holds {recorded}, and the code asked for {asked}."
            );
            assert!(message.contains(&says), "{says}\n{message}");
        }
    }
}

#[skail_function]
async fn sleeps_or_gives_up(#[state] runs: &Runs) -> anyhow::Result<u32> {
    let run = runs.count("gives up");
    let mut waits = std::pin::pin!(sleep(HOUR));
    if run == 1 {
        let _ = futures::poll!(&mut waits);
        anyhow::bail!("it began to wait and failed");
    }
    waits.await?;
    Ok(run)
}

#[tokio::test]
async fn a_sleep_that_no_attempt_has_seen_the_end_of_begins_in_the_attempt_that_waits_for_it() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let start = bench.clock.now();
    let execution = skail.start(sleeps_or_gives_up()).await.unwrap();
    assert!(execution.result().await.unwrap() >= 2);
    assert!(bench.clock.since(start) >= HOUR);
    assert_eq!(count(&execution, set).await, 1);
}
