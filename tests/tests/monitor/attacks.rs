//! What somebody else's page, or somebody at the socket, tries.

use serde_json::json;
use skail_http::reqwest::{Method, StatusCode};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::shop::Shop;

/// What the server says to these bytes, to its end.
async fn said(shop: &Shop, bytes: &str) -> String {
    let mut stream = TcpStream::connect(shop.monitor.address()).await.unwrap();
    // The server may close it before it has all.
    let _ = stream.write_all(bytes.as_bytes()).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn another_pages_action_is_refused_whatever_it_is_made_of() {
    let shop = Shop::opened().await;
    shop.order("one").await;
    let own = shop.url("");
    let cases = [
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("origin", "http://127.0.0.1:1"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ];
    for path in [
        "/api/v1/delete",
        "/act",
        "/login",
        "/logout",
        "/confirm",
        "/nothing",
    ] {
        for (name, value) in cases {
            let request = shop.client.post(shop.url(path)).header(name, value);
            let answer = request.json(&json!({"ids": ["one"]})).send().await.unwrap();
            assert_eq!(
                answer.status(),
                StatusCode::FORBIDDEN,
                "{path} {name}: {value}"
            );
        }
    }
    // What a form or a script without permission can send is no JSON, even from the right page.
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
    ] {
        let request = shop
            .client
            .post(shop.url("/api/v1/delete"))
            .header("origin", &own);
        let request = request
            .header("content-type", kind)
            .body(r#"{"ids":["one"]}"#);
        let answer = request.send().await.unwrap();
        assert_eq!(
            answer.status(),
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "{kind}"
        );
    }
    assert_eq!(
        shop.get("/api/v1/execution?id=one").await.status(),
        StatusCode::OK
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_done_by_a_get() {
    let shop = Shop::opened().await;
    shop.order("one").await;
    for path in [
        "/api/v1/delete",
        "/api/v1/resume",
        "/act",
        "/confirm",
        "/logout",
    ] {
        for method in [
            Method::GET,
            Method::HEAD,
            Method::PUT,
            Method::DELETE,
            Method::PATCH,
        ] {
            let url = format!("{path}?id=one&ids=one&action=delete");
            let request = shop.client.request(method.clone(), shop.url(&url));
            let status = request.send().await.unwrap().status();
            assert!(status.is_client_error(), "{method} {path}: {status}");
        }
    }
    assert_eq!(
        shop.get("/api/v1/execution?id=one").await.status(),
        StatusCode::OK
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_leads_here_by_somebody_elses_will_gets_nothing() {
    let shop = Shop::with(|monitor| monitor.host("monitor.example")).await;
    shop.order("one").await;
    let asked = async |host: &str, target: &str| {
        let bytes = format!("GET {target} HTTP/1.1\r\n{host}Connection: close\r\n\r\n");
        said(&shop, &bytes).await
    };
    for host in [
        "Host: evil.example\r\n",
        "Host: monitor.example.evil\r\n",
        "Host: \r\n",
        "Host: localhost\r\nHost: evil.example\r\n",
        "",
    ] {
        for target in ["/api/v1/overview", "/", "/assets/monitor.js"] {
            let answer = asked(host, target).await;
            let refused = ["HTTP/1.1 421", "HTTP/1.1 400"]
                .iter()
                .any(|it| answer.starts_with(it));
            assert!(refused, "{host} {target}: {answer}");
            assert!(!answer.contains("sell"), "{host} {target}");
        }
    }
    let absolute = asked("Host: localhost\r\n", "http://evil.example/api/v1/overview").await;
    assert!(absolute.starts_with("HTTP/1.1 421"), "{absolute}");
    for host in [
        "localhost",
        "127.0.0.1:1",
        "[::1]",
        "monitor.example",
        "MONITOR.example:443",
    ] {
        let answer = asked(&format!("Host: {host}\r\n"), "/api/v1/overview").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{host}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_is_refused() {
    let shop = Shop::opened().await;
    let order = json!({"ids": ["x".repeat(2 * 1024 * 1024)]});
    let answer = shop.post("/api/v1/delete", &order).await;
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
    // With less of it both would be answered.
    let long = "x".repeat(300_000);
    for request in [
        format!("GET /?x={long} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nx: {long}\r\n\r\n"),
    ] {
        let answer = said(&shop, &request).await;
        assert!(!answer.starts_with("HTTP/1.1 2"), "{answer}");
    }
    let text = format!("/api/v1/executions?text={}", "x".repeat(1_001));
    assert_eq!(shop.get(&text).await.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_tells_browsers_to_run_nothing_that_is_not_the_monitors() {
    let shop = Shop::with(|monitor| monitor.token("swordfish-0123456789")).await;
    for path in [
        "/",
        "/login",
        "/nothing",
        "/api/v1/overview",
        "/assets/monitor.js",
        "/assets/x",
    ] {
        let answer = shop.get(path).await;
        let policy = answer.headers()["content-security-policy"]
            .to_str()
            .unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self';"),
            "{path}: {policy}"
        );
        assert!(
            !policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"),
            "{path}"
        );
        assert_eq!(
            answer.headers()["x-content-type-options"],
            "nosniff",
            "{path}"
        );
        let kept = answer.headers()["cache-control"].to_str().unwrap();
        assert!(["no-store", "no-cache"].contains(&kept), "{path}: {kept}");
        assert!(
            !answer.headers().contains_key("access-control-allow-origin"),
            "{path}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_lead_to_nothing_but_pages() {
    let shop = Shop::opened().await;
    for path in [
        "/../../etc/passwd",
        "/assets/../../Cargo.toml",
        "/assets/..%2f..%2fCargo.toml",
        "/assets/%2e%2e/%2e%2e/Cargo.toml",
        "/assets//etc/passwd",
        "/assets/monitor.js/",
        "/assets/monitor.js%00",
        "/\\..\\Cargo.toml",
    ] {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let answer = said(&shop, &request).await;
        assert!(answer.starts_with("HTTP/1.1 40"), "{path}: {answer}");
    }
}
