//! Exported histories: JSON and back, and against the code of today.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skail_runtime::ReplayError;
use skail_runtime::codec::Payload;
use skail_runtime::history::{ExportedHistory, ImportError, Replay, Status};
use skail_runtime::prelude::*;
use skail_runtime::testing::{TestBuilder, TestSkail, replay};

use super::shop::{GatewayError, Ledger, charge, print, process};

fn shop() -> TestBuilder {
    TestSkail::builder()
        .state(Ledger::default())
        .replace::<charge>()
        .with(|(order, cents)| {
            if attempt().number < 3 {
                return Err(GatewayError::Status { status: 503 });
            }
            Ok(format!("{cents} for {order}"))
        })
        .replace::<print>()
        .with(|_| Ok(()))
}

/// The history of a whole run of `process`.
async fn recorded() -> ExportedHistory {
    let test = shop().start().await.unwrap();
    let order = test.skail().start(process(7)).id("order-7").await.unwrap();
    order.result().await.unwrap();
    order.export().await.unwrap()
}

/// The same, changed by hand.
fn changed(history: &ExportedHistory, change: impl FnOnce(&mut Vec<Value>)) -> ExportedHistory {
    let mut json: Value = serde_json::from_str(&history.to_json()).unwrap();
    change(json["events"].as_array_mut().unwrap());
    ExportedHistory::from_json(&json.to_string()).unwrap()
}

async fn diverges(history: &ExportedHistory) -> String {
    match replay(history).await.unwrap_err() {
        ReplayError::Diverges { message, .. } => message,
        error => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_history_comes_back_from_json_as_it_was_and_can_be_read_by_people() {
    let history = recorded().await;
    let text = history.to_json();
    assert_eq!(ExportedHistory::from_json(&text).unwrap(), history);
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&json["skail_history"], &json["execution"]),
        (&json!(1), &json!("order-7"))
    );
    let events = json["events"].as_array().unwrap();
    assert_eq!(events[0]["Started"]["arguments"], json!({"value": [7]}));
    let failed = &events[2]["CommandAttemptFailed"];
    assert_eq!(failed["step"]["name"], "charge");
    assert_eq!(
        failed["failure"]["typed"],
        json!({"value": {"Status": {"status": 503}}})
    );
    let last = events.last().unwrap();
    assert_eq!(last["Completed"]["result"], json!({"value": "1400 for 7"}));
}

#[tokio::test]
async fn a_history_of_this_code_agrees_whole_and_cut_anywhere_and_no_body_runs() {
    let whole = recorded().await;
    let ledger = Ledger::default();
    for length in 1..=whole.events().len() {
        let cut = changed(&whole, |events| events.truncate(length));
        let test = TestSkail::builder().state(ledger.clone());
        let replayed = test.replay(&cut).await;
        replayed.unwrap_or_else(|error| panic!("{length} events: {error}"));
        // Commands need no state for it.
        replay(&cut).await.unwrap();
    }
    assert!(ledger.entries().is_empty(), "the body of `reserve` ran");
}

#[tokio::test]
async fn another_step_diverges_in_the_words_that_a_block_has() {
    let history = changed(&recorded().await, |events| {
        events[1]["CommandCompleted"]["step"]["name"] = json!("put_aside");
    });
    let message = diverges(&history).await;
    assert!(
        message.starts_with(
            "the code of `process` and the history disagree: at position 0 the history holds command \
             `put_aside` with arguments [7], and the code asked for command `reserve` with arguments [7]."
        ) && message.contains("then resume"),
        "{message}"
    );
}

#[tokio::test]
async fn a_history_that_ended_must_end_so_again() {
    let whole = recorded().await;
    let other = changed(&whole, |events| {
        events.last_mut().unwrap()["Completed"]["result"] = json!({"value": "nothing"});
    });
    let message = diverges(&other).await;
    let says = "the history ended with the result \"nothing\", and the code came to \"1400 for 7\"";
    assert!(message.contains(says), "{message}");

    // The last step was added since.
    let printed = whole.events().len() - 2;
    let shorter = changed(&whole, |events| drop(events.remove(printed)));
    let message = diverges(&shorter).await;
    let says = "the code asked for one more step, command `print` at position 2";
    assert!(message.contains(says), "{message}");
}

#[tokio::test]
async fn arguments_that_cannot_be_read_are_no_green_replay() {
    let history = changed(&recorded().await, |events| {
        events[0]["Started"]["arguments"] = json!({"value": ["seven"]});
    });
    let message = diverges(&history).await;
    assert!(
        message.contains("its recorded argument `order`"),
        "{message}"
    );
}

#[tokio::test]
async fn what_is_no_history_is_told() {
    let damaged = changed(&recorded().await, |events| drop(events.remove(0)));
    let error = replay(&damaged).await.unwrap_err();
    assert!(matches!(error, ReplayError::Damaged { .. }), "{error}");

    let unknown = changed(&recorded().await, |events| {
        events[0]["Started"]["function"] = json!("of_another_program");
    });
    let error = replay(&unknown).await.unwrap_err();
    assert!(matches!(error, ReplayError::Unregistered { .. }), "{error}");

    let newer = r#"{"skail_history": 2, "things": []}"#;
    let error = ExportedHistory::from_json(newer).unwrap_err();
    assert_eq!(error, ImportError::Version { found: 2 });
    let error = ExportedHistory::from_json("{}").unwrap_err();
    assert!(error.to_string().contains("skail_history"), "{error}");
}

/// Today's types. Yesterday's had neither `gift` nor `currency`.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Line {
    article: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    gift: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Quote {
    cents: u32,
    #[serde(default)]
    currency: Option<String>,
}

#[skail_command]
async fn quote(line: Line) -> anyhow::Result<Quote> {
    let _ = line;
    Ok(Quote {
        cents: 5,
        currency: None,
    })
}

/// Grown without a thought for what is recorded.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct CarelessLine {
    article: String,
    #[serde(default)]
    gift: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct CarelessQuote {
    cents: u32,
    currency: String,
}

#[skail_command]
async fn careless_quote(line: Line) -> anyhow::Result<CarelessQuote> {
    let _ = line;
    anyhow::bail!("it never runs here")
}

#[skail_command]
async fn careless_line(line: CarelessLine) -> anyhow::Result<u32> {
    let _ = line;
    Ok(5)
}

#[skail_function]
#[expect(dead_code, reason = "what runs was started by an earlier release")]
async fn quotes(command: String) -> anyhow::Result<u32> {
    let article = "tea".to_owned();
    let line = Line {
        article: article.clone(),
        gift: false,
    };
    Ok(match command.as_str() {
        "quote" => quote(line).await?.cents,
        "careless_quote" => careless_quote(line).await?.cents,
        _ => {
            careless_line(CarelessLine {
                article,
                gift: false,
            })
            .await?
        }
    })
}

/// What an earlier release recorded: one line of one article, and a quote without a currency.
fn of_old_types(command: &str, result: &Value) -> ExportedHistory {
    let arguments = json!([{"article": "tea"}]);
    let digest = Payload::encode(&arguments).unwrap().digest().to_string();
    let step = json!({
        "position": 0, "kind": "Command", "name": command,
        "digest": digest, "arguments": {"value": arguments},
    });
    let json = json!({"skail_history": 1, "execution": "old", "events": [
        {"Started": {"at": 0, "function": "quotes", "arguments": {"value": [command]}}},
        {"CommandCompleted": {"at": 1, "step": step, "attempts": 1, "result": {"value": result}}},
        {"Completed": {"at": 2, "result": {"value": 5}}},
    ]});
    ExportedHistory::from_json(&json.to_string()).unwrap()
}

#[tokio::test]
async fn types_that_grew_with_care_agree_with_old_histories() {
    replay(&of_old_types("quote", &json!({"cents": 5})))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_result_that_grew_without_a_default_diverges_and_the_message_says_what_to_write() {
    let message = diverges(&of_old_types("careless_quote", &json!({"cents": 5}))).await;
    assert!(
        message.contains("at position 0 the recorded result of command `careless_quote`")
            && message.contains("missing field `currency`")
            && message.contains("a new field needs `#[serde(default)]`"),
        "{message}"
    );
}

#[tokio::test]
async fn an_argument_that_grew_diverges_and_the_message_shows_both_and_how_to_accept() {
    let message = diverges(&of_old_types("careless_line", &json!(5))).await;
    assert!(
        message.contains("[{\"article\": \"tea\"}]")
            && message.contains("[{\"article\": \"tea\", \"gift\": false}]")
            && message.contains("`.resume().accept_changed_arguments()`"),
        "{message}"
    );
}

#[tokio::test]
async fn a_blocked_and_a_failed_history_are_asked_whether_they_would_go_on() {
    let blocked = json!({"Blocked": {"at": 9, "reason": {
        "message": "an earlier build was at fault", "position": null, "changed_arguments": null,
    }}});
    let failed = json!({"FunctionAttemptFailed": {
        "at": 9, "attempt": 16, "dropped": [], "retry_at": null,
        "failure": {"kind": "Failed", "message": "an earlier build gave up"},
    }});
    for (rest, status) in [(blocked, Status::Blocked), (failed, Status::Failed)] {
        let at_rest = changed(&recorded().await, |events| {
            events.truncate(2);
            events.push(rest);
        });
        let read = Replay::read(at_rest.events().iter().cloned()).unwrap();
        assert_eq!(read.status(), Some(status));
        replay(&at_rest).await.unwrap();
        let not_mended = changed(&at_rest, |events| {
            events[1]["CommandCompleted"]["step"]["name"] = json!("put_aside");
        });
        assert!(diverges(&not_mended).await.contains("`put_aside`"));
    }
}
