//! The engine's backoff is for what names none; delays go on from the last one over every restart.

use std::time::Duration;

use skail_runtime::history::Event;
use skail_runtime::prelude::*;
use skail_runtime::retry::{Backoff, Jitter};

use super::bench::Bench;

#[skail_command(retry_count = 1)]
async fn names_no_backoff() -> anyhow::Result<()> {
    anyhow::bail!("no")
}

#[skail_command(retry_count = 1, backoff(base = "2s", jitter = "none"))]
async fn names_a_backoff() -> anyhow::Result<()> {
    anyhow::bail!("no")
}

#[skail_function(retry_count = 1)]
async fn tries_them() -> anyhow::Result<()> {
    let three = Backoff::new(
        Duration::from_secs(3),
        1.0,
        Duration::from_secs(3),
        Jitter::None,
    )?;
    names_no_backoff().await.unwrap_err();
    names_a_backoff().await.unwrap_err();
    names_no_backoff().backoff(three).await.unwrap_err();
    anyhow::bail!("and itself")
}

fn delay(event: &Event) -> Option<Duration> {
    match event {
        Event::CommandAttemptFailed { at, retry_at, .. } => Some(retry_at.saturating_since(*at)),
        Event::FunctionAttemptFailed { at, retry_at, .. } => {
            retry_at.map(|retry_at| retry_at.saturating_since(*at))
        }
        _ => None,
    }
}

#[tokio::test]
async fn what_names_no_backoff_gets_the_one_of_the_builder() {
    let bench = Bench::new();
    let minute = Duration::from_secs(60);
    let builders = Backoff::new(minute, 1.0, minute, Jitter::None).unwrap();
    let skail = bench.builder().backoff(builders).start().await.unwrap();
    let execution = skail.start(tries_them()).await.unwrap();
    execution.result().await.unwrap_err();
    let history = execution.history().await.unwrap();
    let delays: Vec<u64> = history
        .iter()
        .filter_map(delay)
        .map(|delay| delay.as_secs())
        .collect();
    // The failures of the commands were built on: each is followed by another step that ran.
    assert_eq!(delays[..4], [60, 2, 3, 60]);
}

#[skail_command(
    retry_count = 30,
    backoff(base = "20s", cap = "10h", jitter = "decorrelated")
)]
async fn leaves_memory_before_each_attempt() -> anyhow::Result<()> {
    anyhow::bail!("no")
}

#[skail_function(
    retry_count = 30,
    backoff(base = "20s", cap = "10h", jitter = "decorrelated")
)]
async fn is_redelivered_far_apart() -> anyhow::Result<()> {
    leaves_memory_before_each_attempt().await.unwrap_err();
    anyhow::bail!("no")
}

#[tokio::test]
async fn decorrelated_delays_go_on_from_the_last_one_though_the_execution_left_memory() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(is_redelivered_far_apart()).await.unwrap();
    execution.result().await.unwrap_err();
    let history = execution.history().await.unwrap();
    let of = |command: bool| -> Vec<Duration> {
        let kind = |event: &&Event| matches!(event, Event::CommandAttemptFailed { .. }) == command;
        history
            .iter()
            .filter(kind)
            .filter_map(delay)
            .take(30)
            .collect()
    };
    for delays in [of(true), of(false)] {
        assert_eq!(delays.len(), 30);
        // One that began afresh each time would never pass three times the base.
        let most = delays.iter().max().unwrap();
        assert!(*most > Duration::from_secs(600), "{delays:?}");
        for pair in delays.windows(2) {
            assert!(
                pair[1] <= pair[0] * 3 + Duration::from_millis(3),
                "{pair:?}"
            );
        }
    }
}
