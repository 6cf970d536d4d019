//! What a function gets when a command has failed for good, and what is left of the error in the record.

use std::error::Error as _;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use skail_runtime::history::Event;
use skail_runtime::prelude::*;
use skail_runtime::{ExecutionError, FailureKind, Position};

use super::support::{Bench, Gates, Runs};

#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
enum GatewayError {
    #[error("the card was refused with code {code}")]
    Refused { code: u16 },
    #[error("the gateway is down")]
    Down,
}

#[skail_command(retry_count = 0)]
async fn is_refused(code: u16) -> Result<(), GatewayError> {
    Err(GatewayError::Refused { code })
}

#[skail_command]
async fn stands_at_the_error_gate(#[state] gates: &Gates) -> anyhow::Result<()> {
    gates.pass("error").await;
    Ok(())
}

#[skail_function(retry_count = 0)]
async fn takes_the_error_apart() -> anyhow::Result<String> {
    let error = is_refused(51).await.unwrap_err();
    stands_at_the_error_gate().await?;
    anyhow::ensure!(error.downcast() == Some(GatewayError::Refused { code: 51 }));
    anyhow::ensure!(error.downcast::<Vec<u8>>().is_none(), "it is none of these");
    anyhow::ensure!(error.kind() == FailureKind::Failed && error.attempts() == 1);
    anyhow::ensure!(error.position() == Some(Position(0)) && error.command() == "is_refused");
    Ok(error.to_string())
}

#[tokio::test]
async fn a_typed_error_comes_back_typed_live_and_in_replay() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("typed").unwrap();
    skail.start(takes_the_error_apart()).id(&id).await.unwrap();
    bench.gates.reached("error", 1).await;
    let skail = bench.crash(skail).await;
    bench.gates.open("error", 1);
    let execution = skail.execution::<String>(&id).await.unwrap();
    assert_eq!(
        execution.result().await.unwrap(),
        "command `is_refused` (position 0) failed after 1 attempt: the card was refused with code 51"
    );
}

#[skail_command(retry_count = 1)]
async fn fails_for_three_reasons() -> anyhow::Result<()> {
    Err(GatewayError::Down)
        .context("the charge was not made")
        .context("the order cannot be confirmed")
}

#[skail_function(retry_count = 0)]
async fn reads_the_reasons() -> anyhow::Result<Vec<String>> {
    let error = fails_for_three_reasons().await.unwrap_err();
    let first = error.source();
    let chain = std::iter::successors(first, |&error| error.source());
    Ok(std::iter::once(error.message().to_owned())
        .chain(chain.map(ToString::to_string))
        .collect())
}

#[skail_function(retry_count = 0)]
async fn lets_the_reasons_out() -> anyhow::Result<()> {
    fails_for_three_reasons()
        .await
        .context("in the third step")?;
    Ok(())
}

#[tokio::test]
async fn the_source_chain_of_an_error_is_kept() {
    let skail = Bench::new().engine().await;
    let execution = skail.start(reads_the_reasons()).await.unwrap();
    let reasons = [
        "the order cannot be confirmed",
        "the charge was not made",
        "the gateway is down",
    ];
    assert_eq!(execution.result().await.unwrap(), reasons);
}

#[tokio::test]
async fn an_error_that_a_function_lets_out_tells_the_whole_way_down_in_the_executions_error() {
    let skail = Bench::new().engine().await;
    let execution = skail
        .start(lets_the_reasons_out())
        .id("order-1")
        .await
        .unwrap();
    let error = execution.result().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "execution `order-1` failed after 1 attempt: in the third step: command \
         `fails_for_three_reasons` (position 0) failed after 2 attempts: the order cannot be confirmed: \
         the charge was not made: the gateway is down; resume it once the cause is gone"
    );
    let ExecutionError::Failed { failure, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(
        (failure.kind, failure.causes.len()),
        (FailureKind::Failed, 3)
    );
}

#[skail_function(retry_count = 0)]
async fn finds_the_command_error_in_anyhow() -> anyhow::Result<u32> {
    let error: anyhow::Error = fails_for_three_reasons()
        .await
        .context("outer")
        .unwrap_err();
    let inner = error
        .downcast_ref::<CommandError>()
        .context("it is in there")?;
    Ok(inner.attempts())
}

#[tokio::test]
async fn the_commands_error_can_be_found_in_an_anyhow_error() {
    let skail = Bench::new().engine().await;
    let execution = skail
        .start(finds_the_command_error_in_anyhow())
        .await
        .unwrap();
    assert_eq!(execution.result().await.unwrap(), 2);
}

/// An error of ten megabytes, whose cut would fall into the middle of a character.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
#[error("x{text}")]
struct Huge {
    text: String,
}

#[skail_command]
async fn fails_at_length(#[state] runs: &Runs) -> Result<(), Huge> {
    runs.count("fails_at_length");
    let text = "👩".repeat(10 * 1024 * 1024 / 4);
    Err(Huge { text })
}

#[skail_function(retry_count = 0)]
async fn survives_ten_megabytes() -> anyhow::Result<(u32, String, bool)> {
    let error = fails_at_length().await.unwrap_err();
    let typed = error.downcast::<Huge>().is_some();
    Ok((error.attempts(), error.message().to_owned(), typed))
}

#[tokio::test]
async fn an_error_of_ten_megabytes_is_cut_at_a_character_and_changes_no_outcome() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(survives_ten_megabytes()).await.unwrap();
    let (attempts, message, typed) = execution.result().await.unwrap();
    assert_eq!((attempts, bench.runs.of("fails_at_length")), (6, 6));
    assert!(message.len() < 17_000 && message.starts_with("x👩👩"));
    assert!(
        message.ends_with("👩… (cut, 10485761 bytes)"),
        "{}",
        &message[16_300..]
    );
    assert!(!typed, "the typed one is too large to be kept beside it");
    for event in execution.history().await.unwrap() {
        if let Event::CommandAttemptFailed { failure, .. } = event {
            assert!(failure.message.len() < 17_000 && failure.typed.is_none());
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("cannot open {}", .0.display())]
struct NoSuchFile(std::path::PathBuf);

#[skail_command(retry_count = 0)]
async fn fails_with_bytes_that_are_no_text() -> Result<(), NoSuchFile> {
    use std::os::unix::ffi::OsStringExt as _;
    let path = std::ffi::OsString::from_vec(b"/tmp/\xff".to_vec());
    Err(NoSuchFile(path.into()))
}

#[skail_function(retry_count = 0)]
async fn reads_bytes_that_are_no_text() -> anyhow::Result<String> {
    let error = fails_with_bytes_that_are_no_text().await.unwrap_err();
    Ok(error.message().to_owned())
}

#[tokio::test]
async fn bytes_that_are_no_text_do_not_break_the_record_of_an_error() {
    let skail = Bench::new().engine().await;
    let execution = skail.start(reads_bytes_that_are_no_text()).await.unwrap();
    assert_eq!(
        execution.result().await.unwrap(),
        "cannot open /tmp/\u{fffd}"
    );
}
