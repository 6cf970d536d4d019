//! The gateway's HTTP side.
//!
//! Owns the routes, the headers and the status codes; what is decided is the [`Book`]'s. Every
//! request must be in the request log before it can have an effect, also one that a fault then
//! swallows.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::book::{Book, BookError};
use super::connection::{CuttingListener, Scissors};
use super::faults::{Fault, Faults};
use super::{ATTEMPT_HEADER, Entry, KEY_HEADER, Level, Operation, Payment};
use crate::json_lines::LogError;
use crate::requests::{Request, RequestLog};

/// Why the gateway did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its ledger cannot be opened.
    #[error(transparent)]
    Ledger(#[from] LogError),
    /// No port on loopback.
    #[error(
        "the payment gateway cannot listen on 127.0.0.1 ({0}); see that this process may open ports"
    )]
    Listen(#[from] io::Error),
}

/// A running gateway; it ends when this is dropped.
#[derive(Debug)]
pub struct Gateway {
    address: SocketAddr,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Desk {
    book: Book,
    faults: Faults,
    requests: Arc<RequestLog>,
}

impl Gateway {
    /// Opens the ledger and listens on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// [`StartError`].
    pub async fn start(
        ledger: &Path,
        requests: Arc<RequestLog>,
        level: Level,
        seed: u64,
    ) -> Result<Self, StartError> {
        let desk = Arc::new(Desk {
            book: Book::open(ledger)?,
            faults: Faults::new(level, seed),
            requests,
        });
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let mut router = Router::new().route("/ledger", get(entries));
        for operation in [Operation::Charge, Operation::Refund, Operation::Void] {
            let handler = move |State(desk): State<Arc<Desk>>,
                                ConnectInfo(scissors): ConnectInfo<Scissors>,
                                headers: HeaderMap,
                                Json(payment): Json<Payment>| async move {
                desk.serve(operation, &scissors, &headers, payment).await
            };
            router = router.route(operation.path(), post(handler));
        }
        let service = router
            .with_state(desk)
            .into_make_service_with_connect_info::<Scissors>();
        let task = tokio::spawn(async move {
            // Serving ends only with the task.
            let _ = axum::serve(CuttingListener(listener), service).await;
        });
        Ok(Self { address, task })
    }

    /// Where it listens, such as `http://127.0.0.1:4711`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn entries(State(desk): State<Arc<Desk>>) -> Json<Vec<Entry>> {
    Json(desk.book.entries())
}

impl Desk {
    async fn serve(
        &self,
        operation: Operation,
        scissors: &Scissors,
        headers: &HeaderMap,
        payment: Payment,
    ) -> Response {
        let Some(key) = header(headers, KEY_HEADER) else {
            return (
                StatusCode::BAD_REQUEST,
                "the header Idempotency-Key is missing; send one key per payment",
            )
                .into_response();
        };
        let fault = self.faults.draw();
        if let Err(error) = self.record(operation, key, headers, &payment, fault) {
            return (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response();
        }
        match fault {
            Fault::Unavailable => {
                return (StatusCode::SERVICE_UNAVAILABLE, "try again later").into_response();
            }
            Fault::SlowToAct(wait) => tokio::time::sleep(wait).await,
            Fault::None | Fault::AnswerLost | Fault::SlowToAnswer(_) => {}
        }
        let decided = self.book.decide(key, operation, payment).await;
        match fault {
            Fault::AnswerLost => scissors.cut(),
            Fault::SlowToAnswer(wait) => tokio::time::sleep(wait).await,
            Fault::None | Fault::Unavailable | Fault::SlowToAct(_) => {}
        }
        match decided {
            Ok(reply) => Json(reply).into_response(),
            Err(error) => {
                let status = match error {
                    BookError::KeyReused { .. } | BookError::BadAmount(_) => {
                        StatusCode::UNPROCESSABLE_ENTITY
                    }
                    BookError::Log(_) => StatusCode::INTERNAL_SERVER_ERROR,
                };
                (status, error.to_string()).into_response()
            }
        }
    }

    fn record(
        &self,
        operation: Operation,
        key: &str,
        headers: &HeaderMap,
        payment: &Payment,
        fault: Fault,
    ) -> Result<(), LogError> {
        self.requests.record(Request {
            operation: operation.word().to_owned(),
            invoice: payment.invoice.clone(),
            key: key.to_owned(),
            attempt: header(headers, ATTEMPT_HEADER)
                .and_then(|text| text.parse().ok())
                .unwrap_or_default(),
            fault: (fault != Fault::None).then(|| fault.to_string()),
            duplicate: fault != Fault::Unavailable && self.book.knows(key),
        })
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get(name)?
        .to_str()
        .ok()
        .filter(|text| !text.is_empty())
}
