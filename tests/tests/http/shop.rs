//! A command that buys something over HTTP, an engine for it, and what came of it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skail_http::{Call, Http, HttpError};
use skail_runtime::clock::Clock as _;
use skail_runtime::prelude::*;
use skail_runtime::store::MemoryStore;
use skail_runtime::testing::VirtualClock;
use skail_runtime::{CommandError, ExecutionError};

use super::server::Server;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Receipt {
    pub(crate) number: u32,
}

/// How the request is made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum How {
    Post,
    PostWithoutKey,
    PostRepeatable,
    PostTrying500,
    Put,
    Get,
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

fn call(http: &Http, how: How, url: &str) -> Call {
    match how {
        How::Post => http.post(url),
        How::PostWithoutKey => http.post(url).without_key(),
        How::PostRepeatable => http.post(url).without_key().repeatable(),
        How::PostTrying500 => http.post(url).retry_500(),
        How::Put => http.put(url),
        How::Get => return http.get(url),
    }
    .json(&Receipt { number: 1 })
}

#[skail_command(retry_count = 3, idempotency_key = "buy {how}")]
async fn buy(#[state] http: &Http, how: How, url: String) -> Result<Receipt, HttpError> {
    call(http, how, &url).send().await?.json().await
}

/// The same, its error turned into one of `anyhow`.
#[skail_command(retry_count = 3)]
async fn buy_anyhow(#[state] http: &Http, how: How, url: String) -> anyhow::Result<Receipt> {
    let answer = call(http, how, &url).send().await?;
    Ok(answer.json().await?)
}

/// What the command came to: its receipt, or the text and attempts of its error.
#[derive(Debug, Serialize, Deserialize)]
struct Bought {
    receipt: Option<Receipt>,
    error: Option<Seen>,
}

/// An error as the function sees it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub(crate) attempts: u32,
    pub(crate) text: String,
    pub(crate) causes: Vec<String>,
    pub(crate) typed: Option<HttpError>,
}

impl Seen {
    fn of(error: &CommandError) -> Self {
        let causes =
            std::iter::successors(std::error::Error::source(error), |error| error.source());
        Self {
            attempts: error.attempts(),
            text: error.to_string(),
            causes: causes.map(ToString::to_string).collect(),
            typed: error.downcast(),
        }
    }
}

#[skail_function(retry_count = 0)]
async fn shops(how: How, url: String, anyhow: bool) -> anyhow::Result<Bought> {
    let bought = if anyhow {
        buy_anyhow(how, url).await
    } else {
        buy(how, url).await
    };
    Ok(match bought {
        Ok(receipt) => Bought {
            receipt: Some(receipt),
            error: None,
        },
        Err(error) => Bought {
            receipt: None,
            error: Some(Seen::of(&error)),
        },
    })
}

/// What came of it, and how long that took on the engine's clock.
pub(crate) struct Outcome {
    pub(crate) result: Result<Receipt, Seen>,
    pub(crate) took: Duration,
}

impl Outcome {
    pub(crate) fn error(&self) -> &Seen {
        self.result.as_ref().expect_err("the command failed")
    }
}

/// Buys something at `path` of the server.
pub(crate) async fn shop(server: &Server, how: How) -> Outcome {
    shop_at(&server.url("/charges"), how, client(), false).await
}

/// A client that waits for an answer for a fifth of a second.
pub(crate) fn client() -> Http {
    let client = skail_http::reqwest::Client::builder()
        .timeout(Duration::from_millis(200))
        .no_proxy()
        .build();
    Http::new(client.unwrap())
}

pub(crate) async fn shop_at(url: &str, how: How, http: Http, anyhow: bool) -> Outcome {
    let clock = VirtualClock::new();
    let skail = Skail::builder()
        .store(MemoryStore::new())
        .clock(Arc::new(clock.clone()))
        .seed(1)
        .state(http)
        .start()
        .await
        .unwrap();
    let start = clock.now();
    let execution = skail
        .start(shops(how, url.to_owned(), anyhow))
        .await
        .unwrap();
    let result: Result<Bought, ExecutionError> = execution.result().await;
    let took = clock.since(start);
    skail.shutdown().await.unwrap();
    let Bought { receipt, error } = result.unwrap();
    Outcome {
        result: receipt.ok_or_else(|| error.unwrap()),
        took,
    }
}
