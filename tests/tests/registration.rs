//! A binary whose registration is wrong: everything that is wrong is told at once, before anything runs.
#![expect(dead_code, reason = "nothing here ever runs")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what is wrong ends the test, in its helpers too"
)]

use skail_runtime::BuildError;
use skail_runtime::prelude::*;
use skail_runtime::store::MemoryStore;

struct Gateway;
struct Mailer;

#[skail_command]
async fn charge(#[state] _gateway: &Gateway, #[state] _mailer: &Mailer) -> anyhow::Result<()> {
    Ok(())
}

#[skail_function(name = "order")]
async fn order_of_2025() -> anyhow::Result<()> {
    Ok(())
}

#[skail_function(name = "order")]
async fn order_of_2026() -> anyhow::Result<()> {
    Ok(())
}

#[skail_command(name = "notify")]
async fn notify_by_mail() -> anyhow::Result<()> {
    Ok(())
}

#[skail_command(name = "notify")]
async fn notify_by_post() -> anyhow::Result<()> {
    Ok(())
}

/// A command and a function are told apart by what they are: they may share a name.
#[skail_command(name = "order")]
async fn order_from_a_supplier() -> anyhow::Result<()> {
    Ok(())
}

async fn problems(builder: skail_runtime::Builder) -> Vec<String> {
    let error = builder.store(MemoryStore::new()).start().await.map(drop);
    match error.unwrap_err() {
        BuildError::Registry(error) => error.problems,
        error => panic!("{error}"),
    }
}

#[tokio::test]
async fn doubled_names_and_missing_state_are_all_told_at_once() {
    let problems = problems(Skail::builder()).await;
    assert_eq!(problems.len(), 4, "{problems:#?}");
    let told = |words: [&str; 3]| {
        let all = |problem: &String| words.iter().all(|word| problem.contains(word));
        assert!(problems.iter().any(all), "{words:?}: {problems:#?}");
    };
    told([
        "two functions are recorded under the name `order`",
        "registration.rs:",
        "registration.rs:",
    ]);
    told([
        "two commands are recorded under the name `notify`",
        "registration.rs:",
        "registration.rs:",
    ]);
    told([
        "the command `charge`",
        "registration.rs:",
        "registration::Gateway`",
    ]);
    told([
        "the command `charge`",
        "registration.rs:",
        "registration::Mailer`",
    ]);
}

#[tokio::test]
async fn what_was_given_is_not_told_as_missing() {
    let builder = Skail::builder().state(Gateway).state(Mailer);
    let problems = problems(builder).await;
    assert_eq!(problems.len(), 2, "the two doubled names: {problems:#?}");
}
