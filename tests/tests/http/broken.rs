//! Connections that break, and answers that do not come.

use std::time::Duration;

use skail_http::HttpErrorKind;

use super::server::{Act, Server, create_then};
use super::shop::{How, client, shop, shop_at};

/// Everything after which nobody knows whether the server has acted.
fn unknown() -> Vec<Act> {
    let late = Act::Late(Duration::from_secs(3), Box::new(Act::Close));
    let acts = [
        Act::Reset,
        Act::Close,
        Act::CutBody,
        Act::StallBody(200, 10),
        Act::Garbage,
        late,
    ];
    acts.map(create_then).to_vec()
}

#[tokio::test]
async fn with_a_key_it_is_asked_again_and_done_once() {
    for act in unknown() {
        let server = Server::start([act.clone()]).await;
        let outcome = shop(&server, How::Post).await;
        assert!(outcome.result.is_ok(), "{act:?}: {:?}", outcome.error());
        assert_eq!(server.counts(), (2, 1, 1), "{act:?}");
        assert!(outcome.took <= Duration::from_millis(500), "{act:?}");
    }
}

#[tokio::test]
async fn without_a_key_it_is_not_asked_again_and_the_error_says_why() {
    for act in unknown() {
        let server = Server::start([act.clone()]).await;
        let outcome = shop(&server, How::PostWithoutKey).await;
        let error = outcome.error();
        assert_eq!(server.counts(), (1, 0, 1), "{act:?}");
        assert_eq!(error.attempts, 1, "{act:?}");
        let typed = error.typed.as_ref().unwrap();
        assert_eq!(typed.kind(), HttpErrorKind::OutcomeUnknown, "{act:?}");
        assert!(
            error.text.contains("is unknown, and it is not sent again"),
            "{}",
            error.text
        );
        assert!(!error.causes.is_empty(), "{act:?}");
    }
}

#[tokio::test]
async fn nobody_there_is_asked_again_with_or_without_a_key() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}/charges", listener.local_addr().unwrap());
    drop(listener);
    for url in [nobody.as_str(), "http://nobody.invalid/charges"] {
        let outcome = shop_at(url, How::PostWithoutKey, client(), false).await;
        let error = outcome.error();
        assert_eq!(error.attempts, 4, "{url}: {error:?}");
        let typed = error.typed.as_ref().unwrap();
        assert_eq!(typed.kind(), HttpErrorKind::NotSent, "{error:?}");
    }
}

#[tokio::test]
async fn a_url_that_is_none_ends_at_once() {
    for url in [
        "",
        "charges",
        "ftp://x.example/",
        "http://",
        "https://127.0.0.1:9/",
    ] {
        let outcome = shop_at(url, How::Post, client(), false).await;
        let error = outcome.error();
        assert_eq!(error.attempts, 1, "{url}: {error:?}");
        // The tests have no TLS, as a program whose author forgot it.
        let told = error
            .causes
            .iter()
            .any(|cause| cause.contains("has no TLS"));
        assert_eq!(told, url.starts_with("https"), "{error:?}");
    }
}

/// The body of a refusal holds nobody up, however long it says it is.
#[tokio::test]
async fn an_endless_refusal_is_left_after_its_beginning() {
    let server = Server::start([Act::StallBody(503, 5_000)]).await;
    let outcome = shop(&server, How::Post).await;
    assert!(outcome.result.is_ok());
    assert_eq!(server.counts(), (2, 1, 1));
    let server = Server::start([Act::StallBody(400, 5_000)]).await;
    let outcome = shop(&server, How::Post).await;
    let typed = outcome.error().typed.as_ref().unwrap();
    assert_eq!(typed.body(), "x".repeat(2_048));
    assert!(outcome.error().text.len() < 500);
}
