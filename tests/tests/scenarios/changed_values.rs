//! The types changed under a running execution: arguments that differ, records that cannot be read.
#![expect(dead_code, reason = "what runs was started by an earlier release")]

use serde::{Deserialize, Serialize};
use skail_runtime::ExecutionError;
use skail_runtime::Position;
use skail_runtime::codec::Payload;
use skail_runtime::history::{Event, Step, StepKind};
use skail_runtime::prelude::*;

use super::support::{Bench, Runs, count};

/// As today's code has it. Yesterday's had no currency, and its articles were numbers.
#[derive(Debug, Serialize, Deserialize)]
struct Price {
    cents: u32,
    currency: String,
}

#[skail_command]
async fn quote_price(#[state] runs: &Runs, article: String) -> anyhow::Result<Price> {
    runs.count("quote_price");
    let currency = "EUR".to_owned();
    Ok(Price {
        cents: u32::try_from(article.len())?,
        currency,
    })
}

#[skail_function]
async fn quotes(article: String) -> anyhow::Result<String> {
    let price = quote_price(article.clone()).await?;
    let again = quote_price(article).await?;
    Ok(format!(
        "{} {} {}",
        price.cents, again.cents, price.currency
    ))
}

fn step(position: u32, arguments: &Payload) -> Step {
    Step {
        position: Position(position),
        kind: StepKind::Command,
        name: "quote_price".to_owned(),
        digest: arguments.digest(),
        arguments: arguments.clone(),
    }
}

/// The history that an earlier release of the program left: started with `argument`, its first step asked
/// for with `asked` and completed with `result`.
fn earlier(
    bench: &Bench,
    argument: &impl Serialize,
    asked: &impl Serialize,
    result: &impl Serialize,
) -> Vec<Event> {
    let at = skail_runtime::clock::Clock::now(&bench.clock);
    let asked = Payload::encode(&[asked]).unwrap();
    vec![
        Event::Started {
            at,
            function: "quotes".to_owned(),
            arguments: Payload::encode(&[argument]).unwrap(),
        },
        Event::CommandCompleted {
            at,
            step: step(0, &asked),
            attempts: 1,
            result: Payload::encode(result).unwrap(),
        },
    ]
}

async fn taken_over(bench: &Bench, history: Vec<Event>) -> (Skail, Execution<String>) {
    let id = ExecutionId::new("quote").unwrap();
    skail_tests::import(&bench.store, &id, history).await;
    let skail = bench.engine().await;
    let execution = skail.execution(&id).await.unwrap();
    (skail, execution)
}

#[derive(Serialize)]
struct OldPrice {
    cents: u32,
}

fn price() -> Price {
    Price {
        cents: 7,
        currency: "GBP".to_owned(),
    }
}

#[tokio::test]
async fn a_recorded_result_that_cannot_be_read_blocks_with_what_serde_said() {
    let bench = Bench::new();
    let history = earlier(&bench, &"tea", &"tea", &OldPrice { cents: 7 });
    let (_skail, execution) = taken_over(&bench, history).await;
    let error = execution.result().await.unwrap_err();
    let ExecutionError::Blocked { message, .. } = error else {
        panic!("{error}")
    };
    assert!(
        message.contains("at position 0 the recorded result of command `quote_price`")
            && message.contains("Price`: missing field `currency`")
            && message.contains("a new field needs `#[serde(default)]`"),
        "{message}"
    );
    assert_eq!(bench.runs.of("quote_price"), 0);
    let burnt = |event: &Event| matches!(event, Event::FunctionAttemptFailed { .. });
    assert_eq!(count(&execution, burnt).await, 0);
}

#[tokio::test]
async fn recorded_arguments_of_the_function_that_cannot_be_read_block() {
    let bench = Bench::new();
    let history = earlier(&bench, &7, &"tea", &price());
    let (_skail, execution) = taken_over(&bench, history).await;
    let error = execution.result().await.unwrap_err();
    let ExecutionError::Blocked { message, .. } = error else {
        panic!("{error}")
    };
    assert!(
        message.contains("`quotes`") && message.contains("its recorded argument `article`"),
        "{message}"
    );
}

#[tokio::test]
async fn other_arguments_of_a_finished_step_block_and_the_message_shows_both() {
    let bench = Bench::new();
    let history = earlier(&bench, &"tea", &"coffee", &price());
    let (_skail, execution) = taken_over(&bench, history).await;
    let error = execution.result().await.unwrap_err();
    let ExecutionError::Blocked { message, .. } = error else {
        panic!("{error}")
    };
    assert!(
        message.contains("holds command `quote_price` with arguments [\"coffee\"]")
            && message.contains("asked for command `quote_price` with arguments [\"tea\"]")
            && message.contains("`.resume().accept_changed_arguments()`"),
        "{message}"
    );
}

#[tokio::test]
async fn accepted_arguments_are_recorded_and_hold_over_a_crash() {
    let mut bench = Bench::new();
    let history = earlier(&bench, &"tea", &"coffee", &price());
    let (skail, execution) = taken_over(&bench, history).await;
    execution.result().await.unwrap_err();
    let still = skail_runtime::clock::Clock::working(&bench.clock);
    execution.resume().accept_changed_arguments().await.unwrap();
    bench.runs.reached("quote_price", 1).await;

    let skail = bench.crash(skail).await;
    drop(still);
    let execution = skail.execution::<String>(execution.id()).await.unwrap();
    assert_eq!(
        execution.result().await.unwrap(),
        "7 3 GBP",
        "the recorded result was used"
    );
    let history = execution.history().await.unwrap();
    let accepted = history.iter().find_map(|event| match event {
        Event::Resumed { accepted, .. } => accepted.first(),
        _ => None,
    });
    let accepted = accepted.expect("it is recorded");
    let tea = Payload::encode(&["tea"]).unwrap().digest();
    assert_eq!((accepted.position, accepted.digest), (Position(0), tea));
}

#[tokio::test]
async fn what_was_accepted_is_these_arguments_and_no_others() {
    let bench = Bench::new();
    let mut history = earlier(&bench, &"tea", &"coffee", &price());
    let coffee = Payload::encode(&["coffee"]).unwrap();
    history.push(Event::CommandCompleted {
        at: history[0].at(),
        step: step(1, &coffee),
        attempts: 1,
        result: Payload::encode(&price()).unwrap(),
    });
    let (_skail, execution) = taken_over(&bench, history).await;
    let mut positions = Vec::new();
    for _ in 0..2 {
        let error = execution.result().await.unwrap_err();
        let ExecutionError::Blocked { message, .. } = error else {
            panic!("{error}")
        };
        positions.push(message.contains("at position 1"));
        execution.resume().accept_changed_arguments().await.unwrap();
    }
    assert_eq!(positions, [false, true], "each is accepted on its own");
    assert_eq!(execution.result().await.unwrap(), "7 7 GBP");
    assert_eq!(bench.runs.of("quote_price"), 0);
}

#[tokio::test]
async fn nothing_can_be_accepted_where_more_than_the_arguments_differs() {
    let bench = Bench::new();
    let history = earlier(&bench, &"tea", &"tea", &OldPrice { cents: 7 });
    let (_skail, execution) = taken_over(&bench, history).await;
    execution.result().await.unwrap_err();
    let error = execution
        .resume()
        .accept_changed_arguments()
        .await
        .unwrap_err();
    assert!(
        matches!(error, ExecutionError::NothingToAccept { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn a_message_about_megabytes_is_no_megabytes() {
    let bench = Bench::new();
    let huge = "x".repeat(1_000_000);
    let history = earlier(&bench, &"tea", &"tea", &huge);
    let (_skail, execution) = taken_over(&bench, history).await;
    let error = execution.result().await.unwrap_err();
    let ExecutionError::Blocked { message, .. } = error else {
        panic!("{error}")
    };
    assert!(message.contains("at position 0 the recorded result of command `quote_price`"));
    assert!(message.contains("then resume"), "the way out is there too");
    assert!(message.len() < 20_000, "{} bytes", message.len());
}
