//! What the builder refuses, and in which words.

use std::time::Duration;

use skail_runtime::prelude::*;
use skail_runtime::store::MemoryStore;
use skail_runtime::{BuildError, Builder};

use super::support::{Bench, Runs};

#[skail_function]
async fn is_registered_twice() -> anyhow::Result<u32> {
    Ok(2)
}

async fn refused(builder: Builder) -> String {
    builder.start().await.map(drop).unwrap_err().to_string()
}

#[tokio::test]
async fn an_engine_without_a_store_is_told_to_have_one() {
    let error = refused(Skail::builder()).await;
    assert!(
        error.contains("Skail needs a store: add `.store("),
        "{error}"
    );
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused_by_name() {
    let bench = Bench::new();
    let settings = [
        (
            "max_running_executions",
            bench.builder().max_running_executions(0),
        ),
        (
            "max_running_commands",
            bench.builder().max_running_commands(0),
        ),
        (
            "max_running_commands",
            bench.builder().max_running_commands(usize::MAX),
        ),
        ("payload_limit", bench.builder().payload_limit(0)),
        ("lease", bench.builder().lease(Duration::from_millis(999))),
    ];
    for (name, builder) in settings {
        let error = refused(builder).await;
        assert!(
            error.starts_with(&format!("the builder's `{name}` cannot be used")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn state_that_nobody_gave_is_told_for_all_commands_and_functions_at_once() {
    let error = Skail::builder()
        .store(MemoryStore::new())
        .start()
        .await
        .map(drop)
        .unwrap_err();
    let BuildError::Registry(error) = error else {
        panic!("{error}")
    };
    for (item, state) in [
        (
            "the command `works_on` (tests/tests/scenarios/start.rs:",
            "scenarios::support::Runs`",
        ),
        (
            "the command `passes_a_gate` (tests/tests/scenarios/crashes.rs:",
            "scenarios::support::Gates`",
        ),
        (
            "the function `deployed` (tests/tests/scenarios/deploying.rs:",
            "scenarios::support::Code`",
        ),
    ] {
        let told = |problem: &String| problem.starts_with(item) && problem.contains(state);
        assert!(error.problems.iter().any(told), "{item}: {error}");
    }
}

#[tokio::test]
async fn two_values_of_one_type_of_state_are_refused() {
    let error = refused(Bench::new().builder().state(Runs::default())).await;
    assert!(
        error.contains("two values of type `scenarios::support::Runs`"),
        "{error}"
    );
}

#[tokio::test]
async fn registering_by_hand_what_registered_itself_is_no_clash() {
    let bench = Bench::new();
    let builder = bench.builder().register::<is_registered_twice>();
    let skail = builder
        .register::<is_registered_twice>()
        .start()
        .await
        .unwrap();
    let execution = skail.start(is_registered_twice()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 2);
}
