//! A shop whose gateway can be down, and a Monitor that watches it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use skail_http::reqwest::{Client, Response, StatusCode};
use skail_monitor::{Monitor, Serving};
use skail_runtime::prelude::*;
use skail_runtime::retry::Dependency;
use skail_runtime::store::MemoryStore;

/// What charges go through.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gateway {
    up: Arc<AtomicBool>,
}

impl Gateway {
    pub(crate) fn comes_up(&self) {
        self.up.store(true, Ordering::SeqCst);
    }
}

#[skail_command(
    retry_count = 1,
    backoff(base = "1ms", cap = "1ms"),
    dependency = "gateway"
)]
async fn charge(#[state] gateway: &Gateway, order: String) -> anyhow::Result<String> {
    anyhow::ensure!(gateway.up.load(Ordering::SeqCst), "no answer for {order}");
    Ok(format!("receipt for {order}"))
}

#[skail_function(retry_count = 0)]
pub(crate) async fn sell(order: String) -> anyhow::Result<String> {
    Ok(charge(order).await?)
}

/// Waits for longer than any test.
#[skail_function]
pub(crate) async fn deliver(order: String) -> anyhow::Result<String> {
    sleep(std::time::Duration::from_secs(3600)).await?;
    Ok(order)
}

/// The shop with its Monitor.
pub(crate) struct Shop {
    pub(crate) skail: Skail,
    pub(crate) gateway: Gateway,
    pub(crate) monitor: Serving,
    pub(crate) client: Client,
}

pub(crate) async fn engine() -> (Skail, Gateway) {
    let gateway = Gateway::default();
    let skail = Skail::builder()
        .store(MemoryStore::new())
        .state(gateway.clone())
        // Many orders fail here, one after the other: none shall wait for that.
        .dependency(
            "gateway",
            Dependency::new().without_breaker().without_budget(),
        )
        .start()
        .await
        .unwrap();
    (skail, gateway)
}

impl Shop {
    pub(crate) async fn opened() -> Self {
        Self::with(|monitor| monitor).await
    }

    pub(crate) async fn with(set: impl FnOnce(Monitor) -> Monitor) -> Self {
        let (skail, gateway) = engine().await;
        let monitor = set(Monitor::new(&skail).address("127.0.0.1:0"));
        Self {
            monitor: monitor.serve().await.unwrap(),
            skail,
            gateway,
            client: Client::new(),
        }
    }

    /// An order whose execution fails while the gateway is down, and completes when it is up.
    pub(crate) async fn order(&self, id: &str) -> Execution<String> {
        let order = self.skail.start(sell(id.to_owned())).id(id).await.unwrap();
        let _ = order.result().await;
        order
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.monitor.address())
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.client.get(self.url(path)).send().await.unwrap()
    }

    pub(crate) async fn json(&self, path: &str) -> Value {
        let answer = self.get(path).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        answer.json().await.unwrap()
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Response {
        let request = self.client.post(self.url(path)).json(body);
        request.send().await.unwrap()
    }
}
