//! The gateway over HTTP, as its users meet it.

use super::*;
use crate::requests::{Caller, RequestLog};
use std::path::Path;
use std::sync::Arc;

async fn start(directory: &Path, level: Level) -> (Gateway, GatewayClient, Arc<RequestLog>) {
    let requests = Arc::new(RequestLog::open(&directory.join("requests")).expect("opens"));
    let gateway = Gateway::start(&directory.join("ledger"), Arc::clone(&requests), level, 1)
        .await
        .expect("starts");
    let client = GatewayClient::new(gateway.url()).expect("a client");
    (gateway, client, requests)
}

fn caller(key: &str, attempt: u32) -> Caller {
    Caller {
        key: key.into(),
        attempt,
    }
}

#[tokio::test]
async fn charges_refunds_and_declines_are_in_the_ledger() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_gateway, client, requests) = start(directory.path(), Level::None).await;
    let ask = async |operation, key, amount: i64| {
        client
            .ask(operation, caller(key, 1), "7", amount.into())
            .await
            .expect("answered")
    };
    assert_eq!(ask(Operation::Charge, "a", 10).await, Answer::Approved);
    assert_eq!(ask(Operation::Charge, "a", 10).await, Answer::Approved);
    assert_eq!(ask(Operation::Refund, "b", 3).await, Answer::Refunded);
    assert!(matches!(
        ask(Operation::Charge, "c", 5_000).await,
        Answer::Declined { .. }
    ));
    let ledger = client.ledger().await.expect("answered");
    assert_eq!(
        ledger
            .iter()
            .map(|entry| entry.key.as_str())
            .collect::<Vec<_>>(),
        ["a", "b", "c"]
    );
    assert_eq!(requests.counts().duplicate_charges, 1);
    assert_eq!(requests.counts().attempts, 4);
}

#[tokio::test]
async fn a_request_without_key_and_a_key_for_two_requests_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_gateway, client, _) = start(directory.path(), Level::None).await;
    let refused = async |key| match client
        .ask(Operation::Charge, caller(key, 1), "7", 10.into())
        .await
    {
        Err(GatewayError::Refused { status, .. }) => status,
        other => panic!("not refused: {other:?}"),
    };
    assert_eq!(refused("").await, 400);
    client
        .ask(Operation::Charge, caller("a", 1), "8", 10.into())
        .await
        .expect("answered");
    assert_eq!(refused("a").await, 422);
}

#[tokio::test]
async fn on_a_bad_day_every_payment_goes_through_once_in_the_end() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_gateway, client, requests) = start(directory.path(), Level::Heavy).await;
    let payments = (0..60).map(async |payment| {
        let key = format!("charge-{payment}");
        let mut failures = Vec::new();
        loop {
            let attempt = caller(&key, failures.len() as u32 + 1);
            match client
                .ask(Operation::Charge, attempt, &key, 10.into())
                .await
            {
                Ok(_) => return failures,
                Err(error) => failures.push(error),
            }
        }
    });
    let failures = futures::future::join_all(payments).await.concat();
    let unavailable = failures
        .iter()
        .filter(|error| matches!(error, GatewayError::Unavailable { status: 503 }))
        .count();
    assert!(unavailable > 0, "{failures:?}");
    assert!(
        failures.len() > unavailable,
        "answers were lost: {failures:?}"
    );
    assert_eq!(client.ledger().await.expect("answered").len(), 60);
    assert_eq!(requests.counts().attempts, 60 + failures.len());
    assert!(requests.counts().duplicate_charges > 0);
}
