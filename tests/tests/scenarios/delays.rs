//! The wait before the next attempt: recorded as a due time, kept over restarts, none after the last.

use std::time::Duration;

use skail_runtime::clock::{Clock as _, Timestamp};
use skail_runtime::history::Event;
use skail_runtime::prelude::*;

use super::support::{Bench, Runs, recorded};

#[skail_command(retry_count = 3, backoff(base = "1s", factor = 3, jitter = "none"))]
async fn says_its_number() -> anyhow::Result<()> {
    anyhow::bail!("attempt {} of {}", attempt().number, attempt().of)
}

#[skail_function(retry_count = 0)]
async fn gives_the_error() -> anyhow::Result<(u32, String)> {
    let error = says_its_number().await.unwrap_err();
    Ok((error.attempts(), error.message().to_owned()))
}

/// Number, text, end and next start of each recorded attempt of the step at position 0.
async fn attempts<T>(execution: &Execution<T>) -> Vec<(u32, String, Timestamp, Option<Timestamp>)> {
    let history = execution.history().await.unwrap();
    let attempt = |event| match event {
        Event::CommandAttemptFailed {
            at,
            attempt,
            failure,
            retry_at,
            ..
        } => Some((attempt, failure.message, at, Some(retry_at))),
        Event::CommandFailed {
            at,
            attempts,
            failure,
            ..
        } => Some((attempts, failure.message, at, None)),
        Event::CommandCompleted { at, attempts, .. } => {
            Some((attempts, "done".to_owned(), at, None))
        }
        _ => None,
    };
    history.into_iter().filter_map(attempt).collect()
}

#[tokio::test]
async fn the_attempt_number_is_the_same_in_the_command_the_history_and_the_error() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(gives_the_error()).await.unwrap();
    let last = (4, "attempt 4 of 4".to_owned());
    assert_eq!(execution.result().await.unwrap(), last);
    let recorded: Vec<(u32, String)> = attempts(&execution)
        .await
        .into_iter()
        .map(|(number, text, ..)| (number, text))
        .collect();
    let told = (1..=4).map(|number| (number, format!("attempt {number} of 4")));
    assert_eq!(recorded, told.collect::<Vec<_>>());
}

#[tokio::test]
async fn each_attempt_starts_when_its_record_says_and_nothing_waits_after_the_last() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let start = bench.clock.now();
    let execution = skail.start(gives_the_error()).await.unwrap();
    execution.result().await.unwrap();
    let attempts = attempts(&execution).await;
    // A body takes no time on this clock: an attempt ends when it starts.
    for pair in attempts.windows(2) {
        assert_eq!(pair[0].3, Some(pair[1].2));
    }
    let ends = attempts
        .iter()
        .map(|attempt| attempt.2.saturating_since(start));
    let seconds: Vec<u64> = ends.map(|end| end.as_secs()).collect();
    assert_eq!(seconds, [0, 1, 1 + 3, 1 + 3 + 9]);
    assert_eq!(bench.clock.since(start), Duration::from_secs(13));
}

#[skail_command]
async fn always_fails_by_default() -> anyhow::Result<()> {
    anyhow::bail!("no")
}

#[skail_function(retry_count = 0)]
async fn waits_by_default() -> anyhow::Result<()> {
    Ok(always_fails_by_default().retry_count(40).await?)
}

#[tokio::test]
async fn default_delays_are_random_and_below_the_doubling_ceiling_and_the_cap() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(waits_by_default()).await.unwrap();
    execution.result().await.unwrap_err();
    let delays: Vec<u64> = attempts(&execution)
        .await
        .into_iter()
        .filter_map(|(_, _, at, retry_at)| Some(retry_at?.saturating_since(at)))
        .map(|delay| u64::try_from(delay.as_millis()).unwrap())
        .collect();
    assert_eq!(delays.len(), 40);
    for (retry, delay) in (0..).zip(&delays) {
        let ceiling = 500_u64.saturating_mul(1 << retry.min(20)).min(30_000);
        assert!(*delay <= ceiling, "retry {retry} waited {delay} ms");
    }
    let late = &delays[7..];
    let mean = late.iter().sum::<u64>() / late.len() as u64;
    assert!(
        (9_000..21_000).contains(&mean),
        "full jitter has half the cap as its mean, not {mean} ms"
    );
}

#[skail_command(retry_count = 1, backoff(base = "1h", cap = "1h", jitter = "none"))]
async fn succeeds_an_hour_later(#[state] runs: &Runs) -> anyhow::Result<u32> {
    let run = runs.count("succeeds_an_hour_later");
    anyhow::ensure!(run == 2, "come back in an hour");
    Ok(run)
}

#[skail_function]
async fn waits_an_hour() -> anyhow::Result<u32> {
    Ok(succeeds_an_hour_later().await?)
}

#[tokio::test]
async fn a_restart_neither_restarts_nor_shortens_the_wait() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("an hour").unwrap();
    let still = bench.clock.working();
    let execution = skail.start(waits_an_hour()).id(&id).await.unwrap();
    recorded(&execution, |event| {
        matches!(event, Event::CommandAttemptFailed { .. })
    })
    .await;
    bench.clock.step(50 * 60 * 1_000);

    let skail = bench.crash(skail).await;
    drop(still);
    let execution = skail.execution::<u32>(&id).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 2);
    let attempts = attempts(&execution).await;
    assert_eq!(attempts.len(), 2, "the restart cost no attempt");
    assert_eq!(attempts[0].3, Some(attempts[1].2));
    let waited = attempts[1].2.saturating_since(attempts[0].2);
    assert_eq!(waited, Duration::from_secs(3_600));
}

#[skail_command(retry_count = 1, backoff(base = "8s", cap = "8s", jitter = "none"))]
async fn succeeds_at_the_second(#[state] runs: &Runs) -> anyhow::Result<u32> {
    let run = runs.count("succeeds_at_the_second");
    anyhow::ensure!(run == 2, "come back in a moment");
    Ok(run)
}

#[skail_function]
async fn waits_a_moment() -> anyhow::Result<u32> {
    Ok(succeeds_at_the_second().await?)
}

#[tokio::test]
async fn a_wait_too_short_to_leave_memory_is_kept_over_a_restart_all_the_same() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("a moment").unwrap();
    let still = bench.clock.working();
    let execution = skail.start(waits_a_moment()).id(&id).await.unwrap();
    let failed = |event: &Event| matches!(event, Event::CommandAttemptFailed { .. });
    recorded(&execution, failed).await;
    bench.clock.step(3_000);

    let skail = bench.crash(skail).await;
    drop(still);
    let execution = skail.execution::<u32>(&id).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 2);
    let attempts = attempts(&execution).await;
    let waited = attempts[1].2.saturating_since(attempts[0].2);
    assert_eq!(waited, Duration::from_secs(8));
}

#[skail_function(retry_count = 1, backoff(base = "1h", cap = "1h", jitter = "none"))]
async fn returns_an_hour_later(#[state] runs: &Runs) -> anyhow::Result<u32> {
    let run = runs.count("returns_an_hour_later");
    anyhow::ensure!(run == 2, "come back in an hour");
    Ok(run)
}

#[tokio::test]
async fn the_wait_for_a_redelivery_is_kept_over_a_restart() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("an hour").unwrap();
    let start = bench.clock.now();
    let still = bench.clock.working();
    let execution = skail.start(returns_an_hour_later()).id(&id).await.unwrap();
    recorded(&execution, |event| {
        matches!(event, Event::FunctionAttemptFailed { .. })
    })
    .await;
    bench.clock.step(50 * 60 * 1_000);

    let skail = bench.crash(skail).await;
    drop(still);
    let execution = skail.execution::<u32>(&id).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 2);
    assert_eq!(bench.clock.since(start), Duration::from_secs(3_600));
}

#[tokio::test]
async fn a_clock_that_is_set_back_makes_the_wait_neither_end_early_nor_never() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let still = bench.clock.working();
    let execution = skail.start(waits_an_hour()).await.unwrap();
    let failed = |event: &Event| matches!(event, Event::CommandAttemptFailed { .. });
    recorded(&execution, failed).await;
    bench.clock.step(-24 * 3_600_000);
    drop(still);
    assert_eq!(execution.result().await.unwrap(), 2);
    let attempts = attempts(&execution).await;
    assert_eq!(attempts[0].3, Some(attempts[1].2));
}
