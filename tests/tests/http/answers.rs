//! Which answers are tried again, and how often.

use skail_http::HttpErrorKind;

use super::server::{Act, Server, create_then, status};
use super::shop::{How, client, shop, shop_at};

/// One request, and then the error.
async fn ends_at_once(act: Act, how: How) -> super::shop::Seen {
    let server = Server::start([act.clone()]).await;
    let outcome = shop(&server, how).await;
    assert_eq!(server.counts().0, 1, "{act:?}");
    let error = outcome.result.expect_err("it failed");
    assert_eq!(error.attempts, 1, "{act:?}");
    error
}

#[tokio::test]
async fn what_no_request_can_change_ends_at_once() {
    for code in [400, 401, 403, 404, 405, 410, 413, 415, 422, 500, 501, 505] {
        let body = format!("{{\"code\": {code}}}");
        let headers = vec!["x-request-id: r-17".to_owned()];
        let error = ends_at_once(Act::Answer(code, headers, body.clone()), How::Post).await;
        assert!(
            error.text.contains(&format!("answered with {code}")),
            "{}",
            error.text
        );
        let typed = error.typed.unwrap();
        assert_eq!(
            (typed.kind(), typed.status()),
            (HttpErrorKind::Status, Some(code))
        );
        assert_eq!(typed.body(), body);
        assert_eq!(typed.header("x-request-id"), Some("r-17"));
    }
}

#[tokio::test]
async fn without_a_key_only_what_did_nothing_is_sent_again() {
    for code in [409, 502, 503, 504] {
        ends_at_once(status(code), How::PostWithoutKey).await;
    }
    for (code, how) in [
        (408, How::PostWithoutKey),
        (425, How::PostWithoutKey),
        (429, How::PostWithoutKey),
        (409, How::Post),
        (502, How::Post),
        (504, How::PostRepeatable),
        (502, How::Put),
        (503, How::Get),
        (500, How::PostTrying500),
    ] {
        let server = Server::start([status(code)]).await;
        let outcome = shop(&server, how).await;
        assert!(outcome.result.is_ok(), "{code} {how:?}");
        assert_eq!(server.counts().0, 2, "{code} {how:?}");
    }
}

#[tokio::test]
async fn an_attempt_is_one_request() {
    let server = Server::start((0..9).map(|_| status(503))).await;
    let outcome = shop(&server, How::Post).await;
    assert_eq!(outcome.error().attempts, 4);
    assert_eq!(server.counts(), (4, 1, 0));
}

#[tokio::test]
async fn all_attempts_have_the_commands_key_and_methods_that_need_none_have_none() {
    let server = Server::start([status(503)]).await;
    shop(&server, How::Post).await;
    let keys: Vec<_> = server
        .asked()
        .iter()
        .map(|asked| asked.header("idempotency-key").map(str::to_owned))
        .collect();
    let key = Some("buy%20Post".to_owned());
    assert_eq!(keys, [key.clone(), key]);
    for how in [How::Get, How::Put, How::PostWithoutKey] {
        let server = Server::start([]).await;
        shop(&server, how).await;
        assert_eq!(server.asked()[0].header("idempotency-key"), None, "{how:?}");
    }
}

#[tokio::test]
async fn advice_goes_along_when_the_error_becomes_one_of_anyhow() {
    let server = Server::start([create_then(status(422))]).await;
    let url = server.url("/charges");
    let outcome = shop_at(&url, How::Post, client(), true).await;
    assert_eq!((outcome.error().attempts, server.counts().0), (1, 1));
    assert!(
        outcome.error().text.contains("422"),
        "{:?}",
        outcome.error()
    );
}

#[tokio::test]
async fn an_answer_that_is_not_what_was_expected_is_not_asked_for_again() {
    for body in ["", "{", "<html>", "{\"number\": \"seven\"}", "[]"] {
        let act = create_then(Act::Answer(200, Vec::new(), body.to_owned()));
        let error = ends_at_once(act, How::Post).await;
        assert_eq!(error.typed.unwrap().kind(), HttpErrorKind::Unexpected);
    }
    let long = Act::Answer(200, Vec::new(), "x".repeat(5_000));
    let server = Server::start([long]).await;
    let http = client().body_limit(4_999);
    let outcome = shop_at(&server.url("/"), How::Post, http, false).await;
    assert_eq!((outcome.error().attempts, server.counts().0), (1, 1));
    let causes = &outcome.error().causes;
    assert!(
        causes.iter().any(|cause| cause.contains("4999 bytes")),
        "{causes:?}"
    );
}

#[tokio::test]
async fn a_redirect_keeps_method_body_and_key() {
    let to = |path: &str| Act::Answer(307, vec![format!("location: {path}")], String::new());
    let server = Server::start([to("/moved"), status(503), to("/moved")]).await;
    let outcome = shop(&server, How::Post).await;
    assert!(outcome.result.is_ok());
    let asked = server.asked();
    let lines: Vec<_> = asked.iter().map(|asked| asked.line.as_str()).collect();
    let (first, moved) = ("POST /charges HTTP/1.1", "POST /moved HTTP/1.1");
    assert_eq!(lines, [first, moved, first, moved]);
    let same = asked.iter().all(|asked| {
        asked.body == asked_first(&asked.body)
            && asked.header("idempotency-key") == Some("buy%20Post")
    });
    assert!(same, "{asked:#?}");
    assert_eq!(server.counts(), (4, 1, 1));

    // In a circle it ends, and is not begun again.
    let server = Server::start((0..50).map(|_| to("/charges"))).await;
    let outcome = shop(&server, How::Post).await;
    assert_eq!(outcome.error().attempts, 1);
    let typed = outcome.error().typed.as_ref().unwrap();
    assert_eq!(typed.kind(), HttpErrorKind::Request);
}

/// The body that every request has.
fn asked_first(_: &str) -> &'static str {
    "{\"number\":1}"
}
