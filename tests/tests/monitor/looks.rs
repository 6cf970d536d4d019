//! What the API tells.

use std::collections::BTreeSet;

use skail_http::reqwest::StatusCode;
use skail_runtime::history::ExportedHistory;

use crate::shop::{Shop, deliver};

#[tokio::test(flavor = "multi_thread")]
async fn the_overview_counts_by_status_and_function_and_tells_of_dependencies() {
    let shop = Shop::opened().await;
    shop.order("one").await;
    shop.gateway.comes_up();
    shop.order("two").await;
    shop.skail.start(deliver("it".to_owned())).await.unwrap();
    let overview = shop.json("/api/v1/overview").await;
    assert_eq!(
        overview["executions"],
        serde_json::json!({"running": 1, "blocked": 0, "failed": 1, "completed": 1})
    );
    let functions = overview["functions"].as_array().unwrap();
    let sell = functions.iter().find(|it| it["name"] == "sell").unwrap();
    assert_eq!((&sell["failed"], &sell["known"]), (&1.into(), &true.into()));
    let gateway = &overview["dependencies"][0];
    assert_eq!(
        (&gateway["name"], &gateway["circuit"]),
        (&"gateway".into(), &serde_json::Value::Null)
    );
    assert_eq!(
        (&gateway["failed"], &gateway["succeeded"]),
        (&2.into(), &1.into())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn executions_are_found_by_what_one_knows_and_page_by_page() {
    let shop = Shop::opened().await;
    for number in 0..5 {
        shop.order(&format!("order-{number}")).await;
    }
    let tagged = shop.skail.start(deliver("it".to_owned())).id("parcel");
    tagged.tag("customer", "Ana & Zé").await.unwrap();
    let ids = async |query: &str| -> Vec<String> {
        let page = shop.json(&format!("/api/v1/executions?{query}")).await;
        let found = page["executions"].as_array().unwrap().iter();
        found
            .map(|it| it["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids("status=running").await, ["parcel"]);
    assert_eq!(ids("function=deliver").await, ["parcel"]);
    assert_eq!(ids("tag=customer:Ana%20%26%20Z%C3%A9").await, ["parcel"]);
    assert_eq!(ids("text=NO%20ANSWER%20for%20order-3").await, ["order-3"]);
    assert_eq!(ids("prefix=order-&limit=2").await, ["order-0", "order-1"]);
    assert_eq!(ids("started_from=99999999999999").await, [""; 0]);
    assert_eq!(ids("started_before=1").await, [""; 0]);

    let mut seen = BTreeSet::new();
    let mut after = String::new();
    for _ in 0..10 {
        let page = shop
            .json(&format!("/api/v1/executions?limit=2&after={after}"))
            .await;
        let found = page["executions"].as_array().unwrap();
        assert!(found.len() <= 2);
        for it in found {
            assert!(
                seen.insert(it["id"].as_str().unwrap().to_owned()),
                "once only"
            );
        }
        match page["next"].as_str() {
            Some(next) => after = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(seen.len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_execution_shows_what_happened_part_by_part() {
    let shop = Shop::opened().await;
    shop.order("one").await;
    let header = shop.json("/api/v1/execution?id=one").await;
    assert_eq!(header["status"], "failed");
    assert!(
        header["problem"]
            .as_str()
            .unwrap()
            .contains("no answer for one")
    );

    let whole = shop.json("/api/v1/history?id=one").await;
    let whole = whole["events"].as_array().unwrap();
    let started = &whole[0]["event"]["Started"];
    assert_eq!(started["arguments"]["value"], serde_json::json!(["one"]));

    let mut parts = Vec::new();
    let mut from = Some(0);
    while let Some(place) = from {
        let part = shop
            .json(&format!("/api/v1/history?id=one&limit=1&from={place}"))
            .await;
        parts.extend(part["events"].as_array().unwrap().clone());
        from = part["next"].as_u64();
    }
    assert_eq!(&parts, whole);

    let beyond = shop
        .json(&format!("/api/v1/history?id=one&from={}", u64::MAX))
        .await;
    assert_eq!(beyond, serde_json::json!({"events": [], "next": null}));

    let exported = shop.get("/api/v1/export?id=one").await;
    let disposition = exported.headers()["content-disposition"].to_str().unwrap();
    assert_eq!(disposition, "attachment; filename=\"one.json\"");
    let exported = ExportedHistory::from_json(&exported.text().await.unwrap()).unwrap();
    assert_eq!(exported.events().len(), whole.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_description_names_every_address_and_each_of_them_answers() {
    let shop = Shop::opened().await;
    shop.order("one").await;
    let description = shop.json("/api/v1/openapi.json").await;
    let paths = description["paths"].as_object().unwrap();
    let names: Vec<&str> = paths.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "/api/v1/delete",
            "/api/v1/execution",
            "/api/v1/executions",
            "/api/v1/export",
            "/api/v1/history",
            "/api/v1/live",
            "/api/v1/overview",
            "/api/v1/resume",
        ]
    );
    for (path, methods) in paths {
        for method in methods.as_object().unwrap().keys() {
            let answer = match method.as_str() {
                "get" => shop.get(&format!("{path}?id=one")).await,
                _ => shop.post(path, &serde_json::json!({"ids": []})).await,
            };
            assert_ne!(answer.status(), StatusCode::NOT_FOUND, "{method} {path}");
            assert_ne!(
                answer.status(),
                StatusCode::METHOD_NOT_ALLOWED,
                "{method} {path}"
            );
        }
    }
    let schemas = description["components"]["schemas"].as_object().unwrap();
    assert!(schemas.contains_key("Overview") && schemas.contains_key("Problem"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_and_what_cannot_be_asked_is_told() {
    let shop = Shop::opened().await;
    let cases = [
        ("/api/v1/execution?id=nobody", 404, "not_found"),
        ("/api/v1/history?id=nobody", 404, "not_found"),
        ("/api/v1/export?id=nobody", 404, "not_found"),
        ("/api/v1/execution", 400, "bad_request"),
        ("/api/v1/execution?id=", 400, "bad_request"),
        ("/api/v1/execution?id=%00", 400, "bad_request"),
        ("/api/v1/history?id=x&limit=501", 400, "bad_request"),
        ("/api/v1/executions?limit=501", 400, "bad_request"),
        ("/api/v1/executions?limit=-1", 400, "bad_request"),
        ("/api/v1/executions?status=lost", 400, "bad_request"),
        ("/api/v1/executions?whatever=1", 400, "bad_request"),
        ("/api/v1/live?show=all", 400, "bad_request"),
        ("/api/v1/nothing", 404, "not_found"),
        ("/api/", 404, "not_found"),
    ];
    for (path, status, code) in cases {
        let answer = shop.get(path).await;
        assert_eq!(answer.status().as_u16(), status, "{path}");
        if path != "/api/" {
            let problem: serde_json::Value = answer.json().await.unwrap();
            assert_eq!(problem["code"], code, "{path}");
            assert!(!problem["message"].as_str().unwrap().is_empty(), "{path}");
        }
    }
}
