//! Who is let in.

use skail_http::reqwest::{Client, StatusCode, redirect};
use skail_monitor::{Monitor, MonitorError};

use crate::log::Log;
use crate::shop::{Shop, engine};

const TOKEN: &str = "swordfish-0123456789";

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_others_reach_needs_a_token_that_nobody_guesses() {
    let (skail, _) = engine().await;
    for address in ["0.0.0.0:0", "[::]:0"] {
        let error = skail_monitor::serve(&skail, address).await.unwrap_err();
        assert!(matches!(error, MonitorError::TokenNeeded { .. }), "{error}");
        assert!(
            error.to_string().contains(".token(…)"),
            "it says what to do: {error}"
        );
        let weak = Monitor::new(&skail)
            .address(address)
            .token("swordfish")
            .serve();
        let error = weak.await.unwrap_err();
        assert!(
            matches!(error, MonitorError::WeakToken { length: 9, .. }),
            "{error}"
        );
    }
    let guarded = Monitor::new(&skail).address("0.0.0.0:0").token(TOKEN);
    assert!(!format!("{guarded:?}").contains("swordfish"));
    let monitor = guarded.serve().await.unwrap();
    assert!(!format!("{monitor:?}{}", monitor.url()).contains("swordfish"));
    let error = skail_monitor::serve(&skail, "nothing").await.unwrap_err();
    assert!(matches!(error, MonitorError::Address { .. }), "{error}");
    let taken = monitor.address().port();
    let error = skail_monitor::serve(&skail, format!("127.0.0.1:{taken}"))
        .await
        .unwrap_err();
    assert!(matches!(error, MonitorError::Listen { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_token_there_is_nothing_but_the_form() {
    let shop = Shop::with(|monitor| monitor.token(TOKEN)).await;
    shop.order("one").await;
    for path in [
        "/api/v1/overview",
        "/api/v1/executions",
        "/api/v1/execution?id=one",
        "/api/v1/history?id=one",
        "/api/v1/export?id=one",
        "/api/v1/live",
        "/api/v1/openapi.json",
        "/api/v1/nothing",
        "/",
        "/executions",
        "/execution?id=one",
        "/api/v1/../../execution?id=one",
        "//api/v1/overview",
        "/login/../execution?id=one",
        "/assets/../execution?id=one",
        "/assets/%2e%2e/execution?id=one",
    ] {
        let wrong = [
            None,
            Some("Bearer swordfish".to_owned()),
            Some(format!("Bearer {TOKEN}x")),
            Some(format!("Basic {TOKEN}")),
            Some(TOKEN.to_owned()),
        ];
        for wrong in wrong {
            // With a cookie that is none, too; the token in the address is none either.
            let separator = if path.contains('?') { '&' } else { '?' };
            let url = shop.url(&format!("{path}{separator}token={TOKEN}"));
            let mut request = shop.client.get(url);
            request = request.header("cookie", format!("skail_monitor={TOKEN}"));
            if let Some(wrong) = &wrong {
                request = request.header("authorization", wrong);
            }
            let answer = request.send().await.unwrap();
            let status = answer.status();
            assert!(
                [401, 404].contains(&status.as_u16()),
                "{path} {wrong:?}: {status}"
            );
            let text = answer.text().await.unwrap();
            assert!(
                !text.contains("no answer for one") && !text.contains("sell"),
                "{path}"
            );
            assert!(!text.contains(TOKEN), "{path}");
        }
    }
    let right = shop
        .client
        .get(shop.url("/api/v1/overview"))
        .bearer_auth(TOKEN);
    assert_eq!(right.send().await.unwrap().status(), StatusCode::OK);
    let order = serde_json::json!({"ids": ["one"]});
    let refused = shop.post("/api/v1/delete", &order).await;
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    let right = shop
        .client
        .get(shop.url("/api/v1/execution?id=one"))
        .bearer_auth(TOKEN);
    assert_eq!(
        right.send().await.unwrap().status(),
        StatusCode::OK,
        "it is still there"
    );
}

#[tokio::test]
async fn the_form_gives_a_cookie_that_is_not_the_token_and_the_log_holds_neither() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let mut shop = Shop::with(|monitor| monitor.token(TOKEN)).await;
    let built = Client::builder().redirect(redirect::Policy::none()).build();
    shop.client = built.unwrap();
    let origin = shop.url("");
    let login = |body: String| {
        let request = shop
            .client
            .post(shop.url("/login"))
            .header("origin", &origin);
        request
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body)
            .send()
    };
    for wrong in ["token=", "token=swordfish", "", "x=y", "token=%ff"] {
        let answer = login(wrong.to_owned()).await.unwrap();
        assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{wrong}");
        assert!(!answer.headers().contains_key("set-cookie"), "{wrong}");
    }
    let answer = login(format!("token={TOKEN}")).await.unwrap();
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    assert_eq!(answer.headers()["location"], "/");
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(!cookie.contains("swordfish"));
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"),
        "{cookie}"
    );
    let kept = cookie.split(';').next().unwrap();
    let looked = shop
        .client
        .get(shop.url("/api/v1/overview"))
        .header("cookie", kept);
    assert_eq!(looked.send().await.unwrap().status(), StatusCode::OK);
    let value = kept.split_once('=').unwrap().1;
    let all = log.all();
    assert!(all.contains("login") && !all.contains("swordfish") && !all.contains(value));
}
