//! Connections that can be cut from inside a handler: how the gateway loses an answer.
//!
//! Owns the listener and the sockets. HTTP has no way to not answer, so the socket under it fails
//! to write. It must never cut by itself.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// The scissors for one connection; a handler gets them as `ConnectInfo`.
#[derive(Debug, Clone, Default)]
pub(super) struct Scissors(Arc<AtomicBool>);

impl Scissors {
    /// From now on nothing is written to this connection; it closes at the first try.
    pub(super) fn cut(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_cut(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

#[derive(Debug)]
pub(super) struct CuttingListener(pub(super) TcpListener);

impl Listener for CuttingListener {
    type Io = CuttingStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        (
            CuttingStream {
                stream,
                scissors: Scissors::default(),
            },
            address,
        )
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.0.local_addr()
    }
}

impl Connected<IncomingStream<'_, CuttingListener>> for Scissors {
    fn connect_info(incoming: IncomingStream<'_, CuttingListener>) -> Self {
        incoming.io().scissors.clone()
    }
}

#[derive(Debug)]
pub(super) struct CuttingStream {
    stream: TcpStream,
    scissors: Scissors,
}

impl AsyncRead for CuttingStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for CuttingStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.scissors.is_cut() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
