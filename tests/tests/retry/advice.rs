//! What an error says about trying again: `permanent`, `retry_after`, and types that know.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use skail_runtime::clock::Clock as _;
use skail_runtime::history::{Event, Status};
use skail_runtime::prelude::*;
use skail_runtime::{BuildError, ExecutionError};

use super::bench::{Bench, Runs};

const SECOND: Duration = Duration::from_secs(1);

#[skail_command(retry_count = 8)]
async fn says_permanent(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("says_permanent");
    let error = "x".parse::<u32>().unwrap_err();
    Err(permanent(
        anyhow::Error::new(error).context("no such invoice"),
    ))
}

#[skail_function]
async fn catches_the_permanent_one() -> anyhow::Result<(u32, Vec<String>)> {
    let error = says_permanent().await.unwrap_err();
    anyhow::ensure!(error.advice() == Advice::Permanent);
    let attempts = error.attempts();
    let error = anyhow::Error::new(error);
    let texts = error.chain().map(ToString::to_string).collect();
    Ok((attempts, texts))
}

#[tokio::test]
async fn a_permanent_error_ends_the_command_at_once_and_keeps_its_text_and_causes() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(catches_the_permanent_one()).await.unwrap();
    let (attempts, texts) = execution.result().await.unwrap();
    assert_eq!((attempts, bench.runs.of("says_permanent")), (1, 1));
    let expected = [
        "command `says_permanent` (position 0) failed for good after 1 attempt: no such invoice",
        "invalid digit found in string",
    ];
    assert_eq!(texts, expected);
}

#[skail_function]
async fn passes_the_permanent_one_on() -> anyhow::Result<()> {
    use anyhow::Context as _;
    says_permanent().await.context("while billing")
}

#[tokio::test]
async fn a_function_that_passes_a_permanent_error_on_has_failed_and_can_be_resumed() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(passes_the_permanent_one_on()).await.unwrap();
    let ExecutionError::Failed {
        attempts, failure, ..
    } = execution.result().await.unwrap_err()
    else {
        panic!("it must have failed");
    };
    assert_eq!((attempts, &*failure.message), (1, "while billing"));
    assert_eq!(failure.advice, Advice::Permanent);
    assert_eq!(bench.runs.of("says_permanent"), 1);

    // The operator has put right what was wrong: the command gets its attempts again.
    execution.resume().await.unwrap();
    execution.result().await.unwrap_err();
    assert_eq!(bench.runs.of("says_permanent"), 2);
    assert_eq!(execution.status().await.unwrap(), Status::Failed);
}

#[skail_function]
async fn is_permanent_itself(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("is_permanent_itself");
    Err(permanent(anyhow::anyhow!("this order is none")))
}

#[tokio::test]
async fn a_function_that_says_permanent_is_not_redelivered() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(is_permanent_itself()).await.unwrap();
    execution.result().await.unwrap_err();
    assert_eq!(bench.runs.of("is_permanent_itself"), 1);
}

#[skail_command(retry_count = 3, backoff(base = "1ms", jitter = "none"))]
async fn asks_to_wait(seconds: u64) -> anyhow::Result<()> {
    let error = anyhow::anyhow!("busy");
    Err(retry_after(error, Duration::from_secs(seconds)))
}

#[skail_function(retry_count = 1, backoff(base = "1ms", jitter = "none"))]
async fn waits_as_asked(seconds: u64) -> anyhow::Result<()> {
    Ok(asks_to_wait(seconds).await?)
}

/// The waits before further attempts of commands, and before redeliveries.
async fn waits<T>(execution: &Execution<T>) -> (Vec<Duration>, Vec<Duration>) {
    let (mut commands, mut functions) = (Vec::new(), Vec::new());
    for event in execution.history().await.unwrap() {
        match event {
            Event::CommandAttemptFailed { at, retry_at, .. } => {
                commands.push(retry_at.saturating_since(at));
            }
            Event::FunctionAttemptFailed {
                at,
                retry_at: Some(retry_at),
                ..
            } => functions.push(retry_at.saturating_since(at)),
            _ => {}
        }
    }
    (commands, functions)
}

#[tokio::test]
async fn the_next_attempt_comes_when_the_error_says_and_up_to_a_tenth_later() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let start = bench.clock.now();
    let execution = skail.start(waits_as_asked(20)).await.unwrap();
    execution.result().await.unwrap_err();
    let (commands, functions) = waits(&execution).await;
    // The function passed the command's error on, and what it says.
    assert_eq!((commands.len(), functions.len()), (6, 1));
    let all: Vec<Duration> = commands.into_iter().chain(functions).collect();
    assert!(
        all.iter()
            .all(|wait| (20 * SECOND..=22 * SECOND).contains(wait)),
        "{all:?}"
    );
    let different: std::collections::BTreeSet<_> = all.iter().collect();
    assert!(different.len() > 3, "they are spread: {all:?}");
    assert_eq!(bench.clock.since(start), all.iter().sum());
    let recorded = execution.history().await.unwrap().into_iter().any(|event| {
        matches!(event, Event::CommandAttemptFailed { failure, .. }
            if failure.advice == Advice::After(20 * SECOND))
    });
    assert!(recorded, "the history shows what was said");
}

#[tokio::test]
async fn no_wait_that_an_error_asks_for_passes_the_cap() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    for seconds in [299, 86_400, u64::MAX] {
        let execution = skail.start(waits_as_asked(seconds)).await.unwrap();
        execution.result().await.unwrap_err();
        let (commands, _) = waits(&execution).await;
        assert!(commands.iter().all(|wait| *wait <= 300 * SECOND));
        assert!(commands.iter().all(|wait| *wait >= 299 * SECOND));
    }
    skail.kill().await;

    let skail = bench.builder().max_retry_after(7 * SECOND).start().await;
    let skail = skail.unwrap();
    let execution = skail.start(waits_as_asked(60)).await.unwrap();
    execution.result().await.unwrap_err();
    assert_eq!(waits(&execution).await.0, [7 * SECOND; 6]);
}

#[tokio::test]
async fn asking_for_no_time_at_all_is_no_way_around_the_backoff() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(waits_as_asked(0)).await.unwrap();
    execution.result().await.unwrap_err();
    let millis = |millis| Duration::from_millis(millis);
    let once = [millis(1), millis(2), millis(4)];
    assert_eq!(waits(&execution).await.0, [once, once].concat());
}

#[tokio::test]
async fn a_cap_of_nothing_is_refused_by_name() {
    let bench = Bench::new();
    let error = bench
        .builder()
        .max_retry_after(Duration::ZERO)
        .start()
        .await
        .unwrap_err();
    assert!(matches!(
        error,
        BuildError::Setting {
            setting: "max_retry_after",
            ..
        }
    ));
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
enum Told {
    #[error("no such card")]
    NoSuchCard,
    #[error("busy for {0} s")]
    Busy(u64),
    #[error("a broken line")]
    Broken,
}

impl RetryAdvice for Told {
    fn advice(&self) -> Advice {
        match self {
            Self::NoSuchCard => Advice::Permanent,
            Self::Busy(seconds) => Advice::After(Duration::from_secs(*seconds)),
            Self::Broken => Advice::Usual,
        }
    }
}

#[skail_command(retry_count = 2)]
async fn returns_a_type_that_knows(#[state] runs: &Runs) -> Result<(), Told> {
    match runs.count("returns_a_type_that_knows") {
        1 => Err(Told::Busy(60)),
        2 => Err(Told::NoSuchCard),
        _ => Err(Told::Broken),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("not to be recorded")]
struct UntypedTold;

impl RetryAdvice for UntypedTold {
    fn advice(&self) -> Advice {
        Advice::Permanent
    }
}

#[skail_command]
async fn returns_an_unrecordable_type_that_knows(#[state] runs: &Runs) -> Result<(), UntypedTold> {
    runs.count("untyped");
    Err(UntypedTold)
}

#[skail_command]
async fn carries_along_what_a_type_knows(#[state] runs: &Runs) -> anyhow::Result<()> {
    runs.count("carries_along");
    let answer: Result<(), Told> = Err(Told::NoSuchCard);
    answer.map_err(advised)
}

#[skail_function(retry_count = 0)]
async fn hears_what_types_say() -> anyhow::Result<Option<Told>> {
    let error = returns_a_type_that_knows().await.unwrap_err();
    returns_an_unrecordable_type_that_knows().await.unwrap_err();
    carries_along_what_a_type_knows().await.unwrap_err();
    Ok(error.downcast())
}

#[tokio::test]
async fn a_type_that_knows_is_asked_and_still_comes_back_as_itself() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let start = bench.clock.now();
    let execution = skail.start(hears_what_types_say()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), Some(Told::NoSuchCard));
    let runs = ["returns_a_type_that_knows", "untyped", "carries_along"];
    assert_eq!(runs.map(|command| bench.runs.of(command)), [2, 1, 1]);
    let passed = bench.clock.since(start);
    assert!((60 * SECOND..=66 * SECOND).contains(&passed), "{passed:?}");
}
