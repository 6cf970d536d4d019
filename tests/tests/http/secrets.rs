//! What is secret stays out of errors and their records.

use super::server::{Server, status};
use super::shop::{How, client, shop_at};

#[tokio::test]
async fn credentials_and_queries_are_in_no_error() {
    let server = Server::start([status(403)]).await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let places = [
        server.url(""),
        nobody,
        "http://nobody.invalid".to_owned(),
        "https://127.0.0.1:9".to_owned(),
        "ftp://x.example".to_owned(),
    ];
    for place in places {
        let (scheme, rest) = place.split_once("://").unwrap();
        let url = format!("{scheme}://me:swordfish@{rest}/charges?token=swordfish#swordfish");
        let outcome = shop_at(&url, How::Post, client(), false).await;
        let seen = format!("{:?}", outcome.error());
        assert!(!seen.contains("swordfish"), "{seen}");
    }
    for garbage in ["swordfish", "http://swordfish:x:y/", "//me:swordfish@x/"] {
        let outcome = shop_at(garbage, How::Post, client(), false).await;
        let seen = format!("{:?}", outcome.error().typed);
        assert!(!seen.contains("swordfish"), "{garbage}: {seen}");
    }
}
