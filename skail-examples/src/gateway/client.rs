//! The client of the gateway: one request per call.
//!
//! Owns what an HTTP answer means. It must never try again by itself: whoever calls it decides
//! about that, and counts it.

use std::error::Error;
use std::time::Duration;

use reqwest::{Client, StatusCode};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use skail_runtime::{Advice, RetryAdvice};

use super::{ATTEMPT_HEADER, Answer, Entry, KEY_HEADER, Operation, Payment, Reply};
use crate::requests::Caller;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum GatewayError {
    /// The gateway cannot serve now; it says that it did nothing.
    #[error("the payment gateway is not available ({status})")]
    Unavailable {
        /// The HTTP status.
        status: u16,
    },
    /// No answer came: nobody knows whether anything was done.
    #[error("the payment gateway gave no answer: {problem}")]
    NoAnswer {
        /// What the connection said.
        problem: String,
    },
    /// The gateway refuses the request as such.
    #[error("the payment gateway refuses the request ({status}): {problem}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What it said.
        problem: String,
    },
}

impl RetryAdvice for GatewayError {
    /// A request that is wrong in itself stays so. What the gateway could not do just now, or may have
    /// done, it is asked again: it has the key.
    fn advice(&self) -> Advice {
        match self {
            // Too slow, under way already, too early, too many: these pass.
            Self::Refused {
                status: 408 | 409 | 425 | 429,
                ..
            } => Advice::Usual,
            Self::Refused {
                status: 400..=499, ..
            } => Advice::Permanent,
            Self::Refused { .. } | Self::Unavailable { .. } | Self::NoAnswer { .. } => {
                Advice::Usual
            }
        }
    }
}

/// A client; clones share their connections.
#[derive(Debug, Clone)]
pub struct GatewayClient {
    url: String,
    http: Client,
}

impl GatewayClient {
    /// A client for the gateway at this address.
    ///
    /// # Errors
    /// [`GatewayError::NoAnswer`] if the system lets no client be built.
    pub fn new(url: String) -> Result<Self, GatewayError> {
        let http = Client::builder()
            .timeout(PATIENCE)
            .no_proxy()
            .build()
            .map_err(|error| no_answer(&error))?;
        Ok(Self { url, http })
    }

    /// Asks for one operation.
    ///
    /// # Errors
    /// [`GatewayError`].
    pub async fn ask(
        &self,
        operation: Operation,
        caller: Caller,
        invoice: &str,
        amount: Decimal,
    ) -> Result<Answer, GatewayError> {
        let request = self
            .http
            .post(format!("{}{}", self.url, operation.path()))
            .header(KEY_HEADER, caller.key)
            .header(ATTEMPT_HEADER, caller.attempt)
            .json(&Payment {
                invoice: invoice.to_owned(),
                amount,
            });
        Ok(answer::<Reply>(request).await?.answer)
    }

    /// Everything that the gateway ever decided.
    ///
    /// # Errors
    /// [`GatewayError`].
    pub async fn ledger(&self) -> Result<Vec<Entry>, GatewayError> {
        answer(self.http.get(format!("{}/ledger", self.url))).await
    }
}

async fn answer<T: serde::de::DeserializeOwned>(
    request: reqwest::RequestBuilder,
) -> Result<T, GatewayError> {
    let response = request.send().await.map_err(|error| no_answer(&error))?;
    let status = response.status();
    if status.is_success() {
        response.json().await.map_err(|error| no_answer(&error))
    } else if status == StatusCode::SERVICE_UNAVAILABLE {
        Err(GatewayError::Unavailable {
            status: status.as_u16(),
        })
    } else {
        let problem = response.text().await.map_err(|error| no_answer(&error))?;
        Err(GatewayError::Refused {
            status: status.as_u16(),
            problem,
        })
    }
}

/// The innermost cause says most: "connection closed before message completed".
fn no_answer(error: &reqwest::Error) -> GatewayError {
    if error.is_timeout() {
        return GatewayError::NoAnswer {
            problem: format!("it took longer than {PATIENCE:?}"),
        };
    }
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    GatewayError::NoAnswer {
        problem: cause.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_request_that_is_wrong_in_itself_is_given_up() {
        let refused = |status| {
            let problem = String::new();
            GatewayError::Refused { status, problem }.advice()
        };
        for status in [400, 401, 404, 422] {
            assert_eq!(refused(status), Advice::Permanent, "{status}");
        }
        for status in [302, 408, 409, 425, 429, 500, 502] {
            assert_eq!(refused(status), Advice::Usual, "{status}");
        }
        let problem = "reset".to_owned();
        assert_eq!(GatewayError::NoAnswer { problem }.advice(), Advice::Usual);
    }
}
