//! How long until the next request.

use std::time::{Duration, SystemTime};

use super::server::{Act, Server, create_then, status, with_header};
use super::shop::{How, shop};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_server_that_is_down_for_two_requests_is_asked_a_third_time() {
    // The first one was done, and the answer said that it was not.
    let server = Server::start([create_then(status(503)), status(503)]).await;
    let outcome = shop(&server, How::Post).await;
    assert_eq!(outcome.result.as_ref().unwrap().number, 7);
    assert_eq!(server.counts(), (3, 1, 1));
    // Full jitter: between nothing and 500 ms, then between nothing and 1 s.
    assert!(outcome.took <= SECOND * 3 / 2, "{:?}", outcome.took);
}

#[tokio::test]
async fn a_wait_that_the_server_asks_for_is_kept() {
    let rows: [(Vec<String>, Duration, Duration); 6] = [
        (
            vec!["retry-after: 5".to_owned()],
            SECOND * 5,
            SECOND * 11 / 2,
        ),
        // Longer than the engine lets anybody ask for.
        (
            vec!["retry-after: 86400".to_owned()],
            SECOND * 300,
            SECOND * 300,
        ),
        // By the server's clock, which is wrong by years.
        (
            vec![
                "date: Sun, 06 Nov 1994 08:49:37 GMT".to_owned(),
                "retry-after: Sun, 06 Nov 1994 08:49:47 GMT".to_owned(),
            ],
            SECOND * 10,
            SECOND * 11,
        ),
        // These say nothing, so it is the backoff's.
        (
            vec!["retry-after: soon".to_owned()],
            Duration::ZERO,
            SECOND / 2,
        ),
        (
            vec!["retry-after: -5".to_owned()],
            Duration::ZERO,
            SECOND / 2,
        ),
        (
            vec!["retry-after: Sun, 06 Nov 1994 08:49:47 GMT".to_owned()],
            Duration::ZERO,
            SECOND / 2,
        ),
    ];
    for (headers, least, most) in rows {
        let server = Server::start([Act::Answer(429, headers.clone(), String::new())]).await;
        let outcome = shop(&server, How::Post).await;
        assert!(outcome.result.is_ok(), "{headers:?}");
        assert_eq!(server.counts(), (2, 1, 1), "{headers:?}");
        let took = outcome.took;
        assert!(least <= took && took <= most, "{headers:?}: {took:?}");
    }
}

#[tokio::test]
async fn a_date_without_the_servers_own_counts_from_now() {
    let at = SystemTime::now() + SECOND * 60;
    let header = httpdate::fmt_http_date(at);
    let server = Server::start([with_header(503, &format!("retry-after: {header}"))]).await;
    let outcome = shop(&server, How::PostWithoutKey).await;
    assert!(outcome.result.is_ok());
    assert_eq!(server.counts(), (2, 0, 1));
    assert!(
        outcome.took >= SECOND * 50 && outcome.took <= SECOND * 66,
        "{:?}",
        outcome.took
    );
}
