//! What was done is undone when the rest cannot be done: newest first, all of it, and nothing twice.
//!
//! A program of its own, since every engine has to be given the state of all its commands.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what is wrong ends the test, in its helpers too"
)]

#[allow(dead_code, reason = "this program uses a part")]
#[path = "scenarios/support.rs"]
mod support;

use std::sync::{Arc, Mutex};

use skail_runtime::history::{Event, Status};
use skail_runtime::prelude::*;
use skail_runtime::testing::{TestSkail, crash_everywhere};
use skail_runtime::{ExecutionError, SagaError};

use support::{Bench, Runs, count};

/// What is booked, and everything that was done to it; a second booking or cancellation of the same thing
/// changes nothing. For `#[state]`.
#[derive(Debug, Clone, Default)]
struct Books(Arc<Mutex<Vec<String>>>);

impl Books {
    fn note(&self, line: String) {
        let mut lines = self.0.lock().unwrap();
        if !lines.contains(&line) {
            lines.push(line);
        }
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

#[skail_command(retry_count = 1)]
async fn book(#[state] books: &Books, what: String) -> anyhow::Result<String> {
    anyhow::ensure!(what != "car", "no car");
    books.note(format!("book {what}"));
    Ok(what)
}

#[skail_command(retry_count = 1)]
async fn cancel(#[state] books: &Books, #[state] runs: &Runs, what: String) -> anyhow::Result<()> {
    let run = runs.count(&format!("cancel {what}"));
    // The line to the hotel is down for the first so many calls.
    anyhow::ensure!(what != "hotel" || run > runs.of("down for"), "no line");
    books.note(format!("cancel {what}"));
    Ok(())
}

#[skail_function(retry_count = 0)]
async fn travels(with_car: bool) -> anyhow::Result<Vec<String>> {
    Saga::scope(async |saga| {
        let mut booked = Vec::new();
        for what in ["flight", "hotel", "museum"] {
            let step = book(what.to_owned()).compensate_by(cancel(what.to_owned()));
            booked.push(saga.run(step).await?);
        }
        if with_car {
            let step = book("car".to_owned()).compensate_by(cancel("car".to_owned()));
            booked.push(saga.run(step).await?);
        }
        Ok(booked)
    })
    .await
}

fn lines(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

/// An engine whose line to the hotel is down for so many calls.
async fn engine(bench: &Bench, books: &Books, down: u32) -> Skail {
    for _ in 0..down {
        bench.runs.count("down for");
    }
    let builder = bench.builder().state(books.clone());
    builder.start().await.unwrap()
}

#[tokio::test]
async fn what_goes_well_is_not_undone() {
    let (bench, books) = (Bench::new(), Books::default());
    let skail = engine(&bench, &books, 0).await;
    let execution = skail.start(travels(false)).await.unwrap();
    let booked = execution.result().await.unwrap();
    assert_eq!(booked, ["flight", "hotel", "museum"]);
    assert_eq!(
        books.lines(),
        lines(&["book flight", "book hotel", "book museum"])
    );
}

#[tokio::test]
async fn what_was_done_is_undone_newest_first_and_so_is_what_may_have_been_done() {
    let (bench, books) = (Bench::new(), Books::default());
    let skail = engine(&bench, &books, 0).await;
    let execution = skail.start(travels(true)).await.unwrap();
    let error = execution.result().await.unwrap_err();
    assert!(error.to_string().contains("no car"), "{error}");
    let undone = [
        "cancel car",
        "cancel museum",
        "cancel hotel",
        "cancel flight",
    ];
    assert_eq!(books.lines()[3..], lines(&undone));
    // No other attempt of the function would change any of it.
    assert!(
        matches!(error, ExecutionError::Failed { attempts: 1, .. }),
        "{error}"
    );
}

/// The hotel cannot be cancelled, in none of the attempts of both rounds.
#[tokio::test]
async fn one_that_cannot_be_undone_stops_no_other_and_a_resume_tries_just_that() {
    let (bench, books) = (Bench::new(), Books::default());
    let skail = engine(&bench, &books, 4).await;
    let execution = skail.start(travels(true)).await.unwrap();
    let error = execution.result().await.unwrap_err();
    for part in [
        "no car",
        "one compensation is left undone",
        "`cancel`",
        "no line",
    ] {
        assert!(error.to_string().contains(part), "{error}");
    }
    let undone = ["cancel car", "cancel museum", "cancel flight"];
    assert_eq!(books.lines()[3..], lines(&undone));
    let runs = |what: &str| bench.runs.of(&format!("cancel {what}"));
    assert_eq!(runs("hotel"), 4, "two rounds of two attempts");

    execution.resume().await.unwrap();
    let error = execution.result().await.unwrap_err();
    assert!(error.to_string().contains("no car"), "{error}");
    assert!(!error.to_string().contains("undone"), "{error}");
    assert_eq!(books.lines().last().unwrap(), "cancel hotel");
    assert_eq!(runs("hotel"), 5);
    assert_eq!((runs("car"), runs("museum"), runs("flight")), (1, 1, 1));
    let header = execution.header().await.unwrap();
    assert_eq!(header.status, Status::Failed);
}

#[skail_command(retry_count = 0)]
async fn comes_up_late(#[state] runs: &Runs) -> anyhow::Result<()> {
    anyhow::ensure!(runs.count("comes_up_late") > 2, "not up yet");
    Ok(())
}

#[skail_function(retry_count = 5)]
async fn looks_first() -> anyhow::Result<u32> {
    Saga::scope(async |saga| {
        comes_up_late().retry_count(1).await?;
        let flight = book("flight".to_owned()).compensate_by(cancel("flight".to_owned()));
        saga.run(flight).await?;
        Ok(1)
    })
    .await
}

#[tokio::test]
async fn an_error_before_anything_was_done_leaves_the_function_its_attempts() {
    let (bench, books) = (Bench::new(), Books::default());
    let skail = engine(&bench, &books, 0).await;
    let execution = skail.start(looks_first()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 1);
    assert_eq!(bench.runs.of("comes_up_late"), 3);
}

#[skail_function(retry_count = 0)]
async fn undoes_by_hand() -> anyhow::Result<usize> {
    let saga = Saga::new();
    let two = ["hotel", "flight"]
        .map(|what| saga.run(book(what.to_owned()).compensate_by(cancel(what.to_owned()))));
    futures::future::try_join_all(two).await?;
    let left = match saga.compensate().await {
        Ok(()) => 0,
        Err(error) => error.undone().len(),
    };
    saga.compensate().await?;
    Ok(left)
}

#[tokio::test]
async fn steps_that_run_together_are_undone_in_the_order_in_which_they_began() {
    let (bench, books) = (Bench::new(), Books::default());
    let skail = engine(&bench, &books, 0).await;
    let execution = skail.start(undoes_by_hand()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 0);
    let expected = ["book hotel", "book flight", "cancel flight", "cancel hotel"];
    let mut found = books.lines();
    found[..2].sort_unstable_by(|one, other| other.cmp(one));
    assert_eq!(found, lines(&expected));
}

/// The hotel is the oldest: nothing comes after it, so there is no second round.
#[tokio::test]
async fn a_failure_that_nothing_follows_is_not_tried_twice() {
    let (bench, books) = (Bench::new(), Books::default());
    let skail = engine(&bench, &books, 2).await;
    let execution = skail.start(undoes_by_hand()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 1);
    assert_eq!(bench.runs.of("cancel hotel"), 2);
    let failed = count(&execution, |event| {
        matches!(event, Event::CommandFailed { .. })
    })
    .await;
    assert_eq!(failed, 1);
}

#[skail_function(retry_count = 0)]
async fn tells_what_is_left() -> anyhow::Result<String> {
    let saga = Saga::new();
    let hotel = book("hotel".to_owned()).compensate_by(cancel("hotel".to_owned()));
    saga.run(hotel).await?;
    let error: SagaError = saga.compensate().await.unwrap_err();
    let undone = &error.undone()[0];
    anyhow::ensure!(error.because().is_none() && undone.error().attempts() == 2);
    Ok(format!("{}: {error}", undone.command()))
}

#[tokio::test]
async fn what_is_left_is_told_with_its_error() {
    let (bench, books) = (Bench::new(), Books::default());
    let skail = engine(&bench, &books, 9).await;
    let execution = skail.start(tells_what_is_left()).await.unwrap();
    assert_eq!(
        execution.result().await.unwrap(),
        "cancel: one compensation is left undone: command `cancel` (position 1) failed after 2 \
         attempts: no line. Once their cause is gone, resume the execution: just these are tried again"
    );
}

/// A crash before and after every commit: nothing that was done stays, and nothing is undone twice that
/// was recorded as undone.
#[tokio::test]
async fn no_crash_loses_a_compensation() {
    for down in [0, 2] {
        let report = crash_everywhere(
            || travels(true),
            || {
                let (books, runs) = (Books::default(), Runs::default());
                for _ in 0..down {
                    runs.count("down for");
                }
                let test = TestSkail::builder().state(books.clone()).state(runs);
                let told = move || {
                    let mut lines = books.lines();
                    if down > 0 {
                        // Which call is the one that gets through depends on the crash.
                        lines.sort_unstable();
                    }
                    lines
                };
                (test, told)
            },
        )
        .await
        .unwrap();
        assert!(report.commits >= 8, "{report:?}");
    }
}
