//! What the attributes write, as the engine sees and runs it.

use serde::{Deserialize, Serialize};
use skail_runtime::descriptor::{
    Body, CommandDescriptor, CommandPolicy, FunctionDescriptor, Register, Registration,
};
use skail_runtime::prelude::*;
use skail_runtime::store::MemoryStore;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[error("the card is refused: {reason}")]
struct Refused {
    reason: String,
}

struct Greeting(String);

#[skail_command(
    retry_count = 0,
    timeout = "1m 30s",
    idempotency_key = "{type}/{number:0>4}",
    name = "key of"
)]
async fn r#match(
    number: u32,
    #[state] _greeting: &Greeting,
    r#type: String,
) -> anyhow::Result<String> {
    let _ = (number, r#type);
    Ok(idempotency_key())
}

#[skail_command(
    blocking,
    backoff(base = "1ms", factor = 1.5, cap = "1s", jitter = "none")
)]
fn greet(#[state] greeting: &Greeting, name: String) -> anyhow::Result<String> {
    Ok(format!("{}, {name}", greeting.0))
}

#[skail_command(retry_count = 0)]
async fn refuse(reason: String) -> Result<(), Refused> {
    Err(Refused { reason })
}

#[skail_command(retry_count = 0)]
async fn refuse_in_words(reason: String) -> anyhow::Result<()> {
    Err(anyhow::Error::msg(reason))
}

#[skail_function(retry_count = 2)]
async fn all(#[state] greeting: &Greeting, name: String) -> anyhow::Result<Vec<String>> {
    let typed = refuse("no money".to_owned()).await;
    let typed: Option<Refused> = typed.err().and_then(|error| error.downcast());
    let untyped = refuse_in_words("no time".to_owned()).await;
    let untyped = untyped.err().map(|error| error.message().to_owned());
    Ok(vec![
        r#match(7, "a".to_owned()).await?,
        greet(name).await?,
        typed.map_or_else(String::new, |refused| refused.to_string()),
        untyped.unwrap_or_default(),
        greeting.0.clone(),
    ])
}

#[tokio::test]
async fn bodies_get_their_arguments_state_and_keys() -> anyhow::Result<()> {
    let skail = Skail::builder()
        .store(MemoryStore::new())
        .state(Greeting("hello".to_owned()))
        .start()
        .await?;
    let said = skail.start(all("ada".to_owned())).await?.result().await?;
    assert_eq!(
        said,
        [
            "a/0007",
            "hello, ada",
            "the card is refused: no money",
            "no time",
            "hello"
        ]
    );
    skail.shutdown().await?;
    Ok(())
}

#[tokio::test]
async fn bodies_can_be_called_alone() -> anyhow::Result<()> {
    let greeting = Greeting("hello".to_owned());
    assert_eq!(greet::body(&greeting, "bob".to_owned())?, "hello, bob");
    let refused = refuse::body("why not".to_owned()).await;
    assert_eq!(
        refused,
        Err(Refused {
            reason: "why not".to_owned()
        })
    );
    Ok(())
}

fn command<R: Register>() -> Option<&'static CommandDescriptor> {
    match R::REGISTRATION {
        Registration::Command(command) => Some(command),
        Registration::Function(_) => None,
    }
}

fn function<R: Register>() -> Option<&'static FunctionDescriptor> {
    match R::REGISTRATION {
        Registration::Function(function) => Some(function),
        Registration::Command(_) => None,
    }
}

#[test]
fn a_command_is_described_as_it_was_written() {
    let described = command::<r#match>().expect("it is a command");
    assert_eq!(described.name, "key of");
    assert_eq!(described.parameters, ["number", "type"]);
    assert_eq!(described.policy.retry_count, 0);
    assert_eq!(described.policy.timeout, Some(Duration::from_secs(90)));
    assert_eq!(described.policy.backoff, CommandPolicy::DEFAULT.backoff);
    assert!(matches!(described.body, Body::Async(_)));
    let states: Vec<&str> = described.states.iter().map(|key| key().name()).collect();
    assert!(matches!(states.as_slice(), [state] if state.ends_with("Greeting")));
    assert_eq!(described.site.module, module_path!());
    assert!(described.site.file.ends_with("attributes.rs"));
    assert_eq!(described.site.line, line_of("async fn r#match("));
    let greet = command::<greet>().expect("it is a command");
    assert!(matches!(greet.body, Body::Blocking(_)));
    assert_eq!(greet.name, "greet");
}

#[test]
fn a_function_is_described_as_it_was_written() {
    let described = function::<all>().expect("it is a function");
    assert_eq!(described.name, "all");
    assert_eq!(described.parameters, ["name"]);
    assert_eq!(described.policy.retry_count, 2);
    assert_eq!(described.states.len(), 1);
}

fn line_of(code: &str) -> u32 {
    let before = include_str!("attributes.rs").split(code).next();
    let lines = before.map_or(0, |before| before.matches('\n').count());
    u32::try_from(lines + 1).unwrap_or_default()
}
