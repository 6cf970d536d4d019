//! The connections: how many there are, and how long a client may take.
//!
//! Owns accepting and closing. Must never look into a request.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::app::App;
use crate::patient::Patient;

/// The most connections at a time; more wait until one is closed.
const MOST_CONNECTIONS: usize = 512;

/// How long a client may take to send the head of a request, and may be idle between two.
const HEAD_WITHIN: Duration = Duration::from_secs(10);

/// How long a client may take nothing of an answer that is there for it.
const TAKE_WITHIN: Duration = Duration::from_secs(30);

/// How long connections have for their last answers when the Monitor stops.
const GRACE: Duration = Duration::from_secs(2);

/// The most bytes of a request's head.
const MOST_HEAD: usize = 64 * 1024;

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// A Monitor that is served. Dropping it closes it at once.
#[must_use = "dropping it ends the Monitor"]
pub struct Serving {
    address: SocketAddr,
    stopping: watch::Sender<bool>,
    /// One task, which owns those of the connections.
    task: JoinSet<()>,
}

impl Serving {
    pub(crate) fn new(address: SocketAddr) -> (Self, watch::Receiver<bool>) {
        let (stopping, receiver) = watch::channel(false);
        let serving = Self {
            address,
            stopping,
            task: JoinSet::new(),
        };
        (serving, receiver)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of its first page. The token is not in it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Stops listening, lets answers that are on their way end within two seconds, and closes everything.
    pub async fn stop(mut self) {
        self.stopping.send_replace(true);
        while self.task.join_next().await.is_some() {}
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

pub(crate) fn run(
    mut serving: Serving,
    listener: TcpListener,
    router: Router,
    app: &App,
) -> Serving {
    let address = serving.address;
    let guarded = app.token.is_some();
    tracing::info!(%address, guarded, "the Monitor is served");
    serving
        .task
        .spawn(accept(listener, router, app.stopping.clone()));
    serving
}

/// Waits until the Monitor stops, or is gone.
pub(crate) async fn stopped(stopping: &mut watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stop| *stop).await;
}

async fn accept(listener: TcpListener, router: Router, mut stopping: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let place = tokio::select! {
            biased;
            () = stopped(&mut stopping) => break,
            place = Arc::clone(&places).acquire_owned() => place.expect("it is never closed"),
        };
        let accepted = tokio::select! {
            biased;
            () = stopped(&mut stopping) => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let router = router.clone().layer(Extension(Peer(peer)));
                let stopping = stopping.clone();
                connections.spawn(async move {
                    serve(stream, router, stopping).await;
                    drop(place);
                });
            }
            Err(error) => {
                // No file is left, for instance: others will close theirs.
                tracing::warn!(%error, "the Monitor cannot take a connection");
                let mut pause = tokio::time::interval(Duration::from_millis(200));
                pause.tick().await;
                pause.tick().await;
            }
        }
    }
    drop(listener);
    let last = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(GRACE, last).await;
}

async fn serve(stream: TcpStream, router: Router, mut stopping: watch::Receiver<bool>) {
    let _ = stream.set_nodelay(true);
    let io = TokioIo::new(Patient::new(stream, TAKE_WITHIN));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .max_buf_size(MOST_HEAD)
        .serve_connection(io, TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    // What breaks a connection is the client's affair.
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        () = stopped(&mut stopping) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection of the Monitor ended");
    }
}
