//! Clients that take their time, or come in crowds, and the live streams.

use std::time::Duration;

use skail_http::reqwest::{Response, StatusCode};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::shop::Shop;

/// The next piece of a stream that says something.
async fn next(stream: &mut Response) -> String {
    loop {
        let piece = tokio::time::timeout(Duration::from_secs(30), stream.chunk()).await;
        let piece = piece.expect("it comes").unwrap().expect("it has not ended");
        let text = String::from_utf8(piece.to_vec()).unwrap();
        if text.contains("event:") {
            return text;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_tells_each_change_and_ends_with_the_monitor() {
    let shop = Shop::opened().await;
    let one = shop.order("one").await;
    let mut execution = shop.get("/api/v1/live?id=one").await;
    assert_eq!(execution.headers()["content-type"], "text/event-stream");
    let first = next(&mut execution).await;
    assert!(first.contains("data: failed-"), "{first}");
    let mut list = shop.get("/api/v1/live?show=list&status=completed").await;
    let before = next(&mut list).await;
    let mut overview = shop.get("/api/v1/live").await;
    next(&mut overview).await;

    shop.gateway.comes_up();
    one.resume().await.unwrap();
    one.result().await.unwrap();
    while !next(&mut execution).await.contains("data: completed-") {}
    assert_ne!(next(&mut list).await, before);
    next(&mut overview).await;
    one.delete().await.unwrap();
    while !next(&mut execution).await.contains("data: gone") {}

    shop.monitor.stop().await;
    while let Ok(Some(_)) = execution.chunk().await {}
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_seen_it_is_told_only_what_comes_after() {
    let shop = Shop::opened().await;
    let one = shop.order("one").await;
    let mut stream = shop.get("/api/v1/live?id=one").await;
    let first = next(&mut stream).await;
    let seen = first
        .lines()
        .find_map(|line| line.strip_prefix("data: "))
        .unwrap();
    let mut again = shop.get(&format!("/api/v1/live?id=one&seen={seen}")).await;
    shop.gateway.comes_up();
    one.resume().await.unwrap();
    assert!(!next(&mut again).await.contains(seen));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_thousand_streams_a_bounded_number_is_served_and_the_rest_hears_why() {
    let shop = Shop::opened().await;
    let mut served = Vec::new();
    let mut refused = 0;
    for _ in 0..1_000 {
        let answer = shop.get("/api/v1/live").await;
        match answer.status() {
            StatusCode::OK => served.push(answer),
            StatusCode::SERVICE_UNAVAILABLE => {
                let problem: serde_json::Value = answer.json().await.unwrap();
                assert_eq!(problem["code"], "too_many");
                refused += 1;
            }
            status => panic!("{status}"),
        }
    }
    assert_eq!((served.len(), refused), (64, 936));
    assert_eq!(shop.get("/api/v1/overview").await.status(), StatusCode::OK);
    // A place is free again when somebody goes.
    drop(served);
    let again = async {
        while shop.get("/api/v1/live").await.status() != StatusCode::OK {
            tokio::task::yield_now().await;
        }
    };
    let again = tokio::time::timeout(Duration::from_secs(30), again).await;
    again.expect("places come back");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_never_ends_its_request_is_left_and_keeps_nobody_waiting() {
    let shop = Shop::opened().await;
    let mut slow = Vec::new();
    for _ in 0..100 {
        let mut stream = TcpStream::connect(shop.monitor.address()).await.unwrap();
        stream
            .write_all(b"GET / HTTP/1.1\r\nHost: loc")
            .await
            .unwrap();
        slow.push(stream);
    }
    assert_eq!(shop.get("/api/v1/overview").await.status(), StatusCode::OK);
    for mut stream in slow {
        let mut rest = Vec::new();
        let closed = tokio::time::timeout(Duration::from_secs(60), stream.read_to_end(&mut rest));
        let _ = closed.await.expect("it is closed by the server");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_never_ends_is_given_up() {
    let shop = Shop::opened().await;
    let mut stream = TcpStream::connect(shop.monitor.address()).await.unwrap();
    let head = "POST /api/v1/delete HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
        Content-Length: 100\r\nConnection: close\r\n\r\n{";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(90), stream.read_to_end(&mut answer));
    ended.await.expect("it is closed by the server").unwrap();
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}
