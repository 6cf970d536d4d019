//! What the Monitor does, and the line that it leaves.

use serde_json::{Value, json};
use skail_http::reqwest::StatusCode;

use crate::log::Log;
use crate::shop::{Shop, deliver};

#[tokio::test(flavor = "multi_thread")]
async fn failed_orders_are_resumed_and_complete_and_others_are_told_why_not() {
    let shop = Shop::opened().await;
    let one = shop.order("one").await;
    let two = shop.order("two").await;
    shop.skail
        .start(deliver("it".to_owned()))
        .id("three")
        .await
        .unwrap();
    shop.gateway.comes_up();
    let order =
        json!({"ids": ["one", "two", "three", "nobody"], "by": "Ana", "reason": "it is up"});
    let answer = shop.post("/api/v1/resume", &order).await;
    assert_eq!(answer.status(), StatusCode::OK);
    let outcomes: Value = answer.json().await.unwrap();
    let outcomes = outcomes["outcomes"].as_array().unwrap();
    let told: Vec<_> = outcomes
        .iter()
        .map(|it| (&it["done"], &it["problem"]["code"]))
        .collect();
    let (yes, no) = (&Value::Bool(true), &Value::Bool(false));
    let expected = [
        (yes, &Value::Null),
        (yes, &Value::Null),
        (no, &"conflict".into()),
        (no, &"not_found".into()),
    ];
    assert_eq!(told, expected);
    assert_eq!(one.result().await.unwrap(), "receipt for one");
    assert_eq!(two.result().await.unwrap(), "receipt for two");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_at_rest_is_deleted_and_what_runs_is_not() {
    let shop = Shop::opened().await;
    shop.order("one").await;
    shop.skail
        .start(deliver("it".to_owned()))
        .id("two")
        .await
        .unwrap();
    let answer = shop
        .post("/api/v1/delete", &json!({"ids": ["one", "two"]}))
        .await;
    let outcomes: Value = answer.json().await.unwrap();
    assert_eq!(outcomes["outcomes"][0]["done"], true);
    assert_eq!(outcomes["outcomes"][1]["problem"]["code"], "conflict");
    assert_eq!(
        shop.get("/api/v1/execution?id=one").await.status(),
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        shop.get("/api/v1/execution?id=two").await.status(),
        StatusCode::OK
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_are_accepted_only_where_they_changed() {
    let shop = Shop::opened().await;
    shop.order("one").await;
    let order = json!({"ids": ["one"], "accept_changed_arguments": true});
    let answer: Value = shop
        .post("/api/v1/resume", &order)
        .await
        .json()
        .await
        .unwrap();
    let problem = answer["outcomes"][0]["problem"]["message"]
        .as_str()
        .unwrap();
    assert!(
        problem.contains("not blocked by changed arguments"),
        "{problem}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_no_order_does_nothing() {
    let shop = Shop::opened().await;
    shop.order("one").await;
    let many: Vec<String> = (0..1_001).map(|number| number.to_string()).collect();
    let cases = [
        json!({"ids": []}),
        json!({"ids": many}),
        json!({"ids": "one"}),
        json!({"ids": ["one"], "reason": "x".repeat(1_001)}),
        json!({"ids": ["one"], "whatever": true}),
        json!([]),
    ];
    for case in cases {
        let answer = shop.post("/api/v1/delete", &case).await;
        assert!(answer.status().is_client_error(), "{}", answer.status());
    }
    assert_eq!(
        shop.get("/api/v1/execution?id=one").await.status(),
        StatusCode::OK
    );
}

#[tokio::test]
async fn each_act_leaves_a_line_that_says_who_what_and_why() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let shop = Shop::opened().await;
    shop.order("one").await;
    let order = json!({"ids": ["one", "nobody"], "by": "Ana", "reason": "wrong\nINFO forged"});
    shop.post("/api/v1/delete", &order).await;
    let lines = log.of("skail_monitor::audit");
    assert_eq!(lines.len(), 2, "{lines:?}");
    for part in [
        "action=\"delete\"",
        "execution=\"one\"",
        "by=\"Ana\"",
        // As it was written: it cannot pass for a line of its own.
        "reason=\"wrong\\nINFO forged\"",
        "peer=127.0.0.1:",
        "message=done",
    ] {
        assert!(lines[0].contains(part), "{part}: {}", lines[0]);
    }
    assert!(lines[1].contains("message=refused"), "{}", lines[1]);
    assert!(lines[1].contains("there is no execution"), "{}", lines[1]);
}
