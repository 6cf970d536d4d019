//! A connection that does not wait for ever for its client to take what was written.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Interval, interval_at};

/// Breaks a connection whose client has taken nothing for the given time although something is there.
#[derive(Debug)]
pub(crate) struct Patient<S> {
    stream: S,
    within: Duration,
    /// Ticks when patience ends; there while a write waits.
    waiting: Option<Interval>,
}

impl<S> Patient<S> {
    pub(crate) fn new(stream: S, within: Duration) -> Self {
        Self {
            stream,
            within,
            waiting: None,
        }
    }
}

impl<S: Unpin> Patient<S> {
    /// Passes on what `write` says, unless it has said for too long that it has to wait.
    fn judge<T>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let written = write(Pin::new(&mut self.stream), context);
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let within = self.within;
        let waiting = self
            .waiting
            .get_or_insert_with(|| interval_at(Instant::now() + within, within));
        ready!(waiting.poll_tick(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.judge(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.judge(context, |stream, context| stream.poll_flush(context))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.judge(context, |stream, context| stream.poll_shutdown(context))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    #[tokio::test]
    async fn a_client_that_takes_nothing_is_left() {
        let (near, far) = tokio::io::duplex(16);
        let mut patient = Patient::new(near, Duration::from_millis(20));
        let error = patient.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(far);
    }

    #[tokio::test]
    async fn a_client_that_takes_something_now_and_then_is_kept() {
        use tokio::io::AsyncReadExt as _;
        let (near, mut far) = tokio::io::duplex(16);
        let mut patient = Patient::new(near, Duration::from_secs(3600));
        let reading = async {
            let mut taken = [0; 64];
            far.read_exact(&mut taken).await
        };
        let (written, read) = tokio::join!(patient.write_all(&[0; 64]), reading);
        written.unwrap();
        read.unwrap();
    }
}
