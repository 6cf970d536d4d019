//! `verify`: all that a store holds unfinished, read-only, before a deploy.

use std::sync::Arc;
use std::time::Duration;

use skail_runtime::clock::{Clock as _, SystemClock};
use skail_runtime::history::{Event, Status};
use skail_runtime::prelude::*;
use skail_runtime::store::{MemoryStore, Query, Store as _};
use skail_runtime::testing::{TestBuilder, TestSkail, VirtualClock};
use skail_runtime::{Builder, ExecutionError, Sequence, Verification};

use super::crashes::Done;
use super::deploys::Build;
use super::shop::{Gateway, Ledger};

#[skail_command]
async fn first(#[state] ledger: &Ledger, number: u32) -> anyhow::Result<u32> {
    ledger.enter(idempotency_key(), number);
    Ok(number)
}

#[skail_command(retry_count = 400, backoff(base = "1d", cap = "1d", jitter = "none"))]
async fn second(number: u32) -> anyhow::Result<u32> {
    Ok(number)
}

/// What the state says of today's arguments.
#[derive(Clone, Copy)]
pub(crate) struct Shift(pub(crate) u32);

#[skail_function]
async fn shifted(#[state] shift: &Shift, number: u32) -> anyhow::Result<u32> {
    let one = first(number + shift.0).await?;
    Ok(one + second(number).await?)
}

#[skail_function(name = "of_both_builds")]
async fn waits(number: u32) -> anyhow::Result<u32> {
    Ok(second(number).await?)
}

fn builder(store: &MemoryStore, shift: u32) -> Builder {
    Skail::builder()
        .store(store.clone())
        .state(Shift(shift))
        .state(Ledger::default())
        .state(Done::default())
        .state(Gateway)
        .state(Build::nothing())
        .state(super::kit::NobodyGivesIt)
}

/// What a new build says of a store whose process has died.
async fn verified(store: &MemoryStore, shift: u32) -> Verification {
    builder(&store.crash(), shift).verify().await.unwrap()
}

/// A body of `second` that has not come back yet.
fn hanging() -> TestBuilder {
    TestSkail::builder()
        .state(Shift(0))
        .state(Ledger::default())
        .replace::<second>()
        .with_async(|_| std::future::pending())
}

/// A store with two executions of `shifted` and one of `waits` in their second steps, and one that is to
/// begin in a year.
async fn in_the_middle() -> TestSkail {
    let test = hanging().start().await.unwrap();
    let skail = test.skail();
    for number in [1, 2] {
        let id = format!("shifted-{number}");
        skail.start(shifted(number)).id(id).await.unwrap();
    }
    skail.start(waits(3)).id("waits").await.unwrap();
    let year = Duration::from_secs(365 * 24 * 3600);
    skail
        .start(shifted(4))
        .id("later")
        .delay(year)
        .await
        .unwrap();
    while test.runs_of::<second>() < 3 {
        tokio::task::yield_now().await;
    }
    test.skail().kill().await;
    test
}

#[tokio::test]
async fn a_build_that_fits_is_clean_and_nothing_was_touched() {
    let test = in_the_middle().await;
    let store = test.store();
    let query = Query {
        limit: 100,
        ..Query::default()
    };
    let before = store.list(query.clone()).await.unwrap().headers;
    let verification = verified(store, 0).await;
    let store = store.crash();
    assert!(verification.is_clean(), "{verification}");
    assert_eq!(verification.checked, 4);
    assert_eq!(
        verification.to_string(),
        "4 unfinished executions were replayed\nthis build takes up all that runs"
    );
    assert_eq!(store.list(query).await.unwrap().headers, before);
    let id = ExecutionId::new("shifted-1").unwrap();
    let history = store.history(&id, Sequence(0), 100).await.unwrap();
    assert_eq!(history.len(), 2, "the start and the first step");
}

#[tokio::test]
async fn a_build_that_does_not_fit_is_told_for_each_execution_that_it_would_block() {
    let mut test = in_the_middle().await;
    let verification = verified(test.store(), 10).await;
    assert!(!verification.is_clean());
    let diverging = verification.diverging.iter();
    let ids: Vec<&str> = diverging.map(|one| one.execution.as_str()).collect();
    assert_eq!(
        ids,
        ["shifted-1", "shifted-2"],
        "not the one that has not begun"
    );
    let says = "at position 0 the history holds command `first` with arguments [1], and the code asked for \
                command `first` with arguments [11]";
    assert!(
        verification.diverging[0].message.contains(says),
        "{verification}"
    );
    let report = verification.to_string();
    assert!(
        report.contains(
            "4 unfinished executions were replayed\n2 would be blocked by this build:\n  \
                         `shifted-1`: the code of `shifted`"
        ),
        "{report}"
    );

    // The old build goes on as if nothing had been.
    test.restart().await.unwrap();
    let waits = test.skail().execution::<u32>("shifted-1").await.unwrap();
    assert_eq!(waits.status().await.unwrap(), Status::Running);
}

#[tokio::test]
async fn what_is_blocked_already_is_no_fault_of_this_build_and_what_it_mends_is_named() {
    let test = in_the_middle().await;
    let store = test.store().crash();
    // The wrong build goes to work all the same.
    let skail = builder(&store, 10).start().await.unwrap();
    for id in ["shifted-1", "shifted-2"] {
        let execution = skail.execution::<u32>(id).await.unwrap();
        let error = execution.result().await.unwrap_err();
        assert!(matches!(error, ExecutionError::Blocked { .. }), "{error}");
    }
    skail.kill().await;
    let store = store.crash();

    let same = verified(&store, 10).await;
    assert!(same.is_clean(), "it blocks nothing that ran: {same}");
    assert!(same.diverging.iter().all(|one| one.blocked), "{same}");
    assert_eq!(same.diverging.len(), 2);
    let right = verified(&store, 0).await;
    let resumable: Vec<&str> = right.resumable.iter().map(ExecutionId::as_str).collect();
    assert_eq!(
        (resumable, right.diverging.len()),
        (vec!["shifted-1", "shifted-2"], 0)
    );
    assert!(
        right
            .to_string()
            .contains("2 are blocked and would go on when resumed:")
    );
}

#[tokio::test]
async fn what_cannot_be_read_is_listed_and_stops_nothing() {
    let test = in_the_middle().await;
    let id = ExecutionId::new("shifted-2").unwrap();
    assert!(test.store().damage(&id));
    let verification = verified(test.store(), 10).await;
    let unreadable: Vec<&str> = verification
        .unreadable
        .iter()
        .map(|(id, _)| id.as_str())
        .collect();
    assert_eq!(unreadable, ["shifted-2"]);
    assert_eq!(verification.diverging.len(), 1);
    assert!(!verification.is_clean());
}

#[tokio::test]
async fn state_that_nobody_gave_is_an_error_before_anything_is_read() {
    let builder = Skail::builder().store(MemoryStore::new());
    let error = builder.verify().await.unwrap_err();
    assert!(error.to_string().contains("Shift"), "{error}");
}

#[tokio::test]
async fn a_sled_store_takes_it_for_an_orderly_visit_and_not_for_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let open = || SledStore::open(folder.path()).unwrap();
    let engine = |store: SledStore| {
        let skail = Skail::builder().store(store).state(Shift(0));
        let skail = skail.state(Ledger::default()).state(Done::default());
        let skail = skail.state(Gateway).state(Build::nothing());
        skail.state(super::kit::NobodyGivesIt)
    };
    let hour = Duration::from_secs(3600);
    let skail = engine(open()).start().await.unwrap();
    skail
        .start(shifted(1))
        .id("later")
        .delay(hour)
        .await
        .unwrap();
    skail.shutdown().await.unwrap();
    drop(skail);

    let verification = engine(open()).verify().await.unwrap();
    assert!(verification.is_clean(), "{verification}");
    assert_eq!(verification.checked, 1);

    let later = SystemClock.now().saturating_add(hour * 2);
    let clock = Arc::new(VirtualClock::at(later));
    let skail = engine(open()).clock(clock).start().await.unwrap();
    let execution = skail.execution::<u32>("later").await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 2);
    let history = execution.history().await.unwrap();
    let watched = |event: &Event| matches!(event, Event::CommandStarted { .. });
    assert!(!history.iter().any(watched), "no execution is a suspect");
    skail.shutdown().await.unwrap();
}
