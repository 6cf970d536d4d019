//! The builder of a Monitor: where it listens, and what guards it.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use skail_runtime::Skail;
use tokio::net::TcpListener;

use crate::app::{self, App};
use crate::error::MonitorError;
use crate::guard::Token;
use crate::server::{self, Serving};

/// Where a Monitor listens unless told otherwise.
const ADDRESS: &str = "127.0.0.1:7878";

/// Serves a Monitor of this engine at an address of this machine, `"127.0.0.1:7878"` for instance; port 0 is
/// any free one. It is served until what this returns is dropped or [stopped](Serving::stop).
///
/// ```no_run
/// # use skail_runtime::prelude::*;
/// # async fn serve(skail: &Skail) -> Result<(), skail_monitor::MonitorError> {
/// let monitor = skail_monitor::serve(skail, "127.0.0.1:0").await?;
/// println!("the Monitor is at {}", monitor.url());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`MonitorError::TokenNeeded`] for an address that others reach: see [`Monitor::token`]. Others as
/// [`Monitor::serve`].
pub async fn serve(skail: &Skail, address: impl fmt::Display) -> Result<Serving, MonitorError> {
    Monitor::new(skail).address(address).serve().await
}

/// A Monitor that is being put together.
///
/// ```no_run
/// # use skail_monitor::Monitor;
/// # use skail_runtime::prelude::*;
/// # async fn serve(skail: &Skail, token: String) -> Result<(), skail_monitor::MonitorError> {
/// let monitor = Monitor::new(skail)
///     .address("0.0.0.0:7878")
///     .token(token)
///     .host("monitor.shop.example")
///     .serve()
///     .await?;
/// # drop(monitor);
/// # Ok(())
/// # }
/// ```
#[must_use = "a Monitor does nothing until it is served"]
pub struct Monitor {
    skail: Skail,
    address: String,
    token: Option<String>,
    hosts: Vec<String>,
}

impl Monitor {
    /// A Monitor of this engine, at `127.0.0.1:7878`. It holds a handle of the engine while it is served.
    pub fn new(skail: &Skail) -> Self {
        Self {
            skail: skail.clone(),
            address: ADDRESS.to_owned(),
            token: None,
            hosts: Vec::new(),
        }
    }

    /// Listens here: an IP address or a name, with a port.
    pub fn address(mut self, address: impl fmt::Display) -> Self {
        self.address = address.to_string();
        self
    }

    /// Lets in only who has this token, at least 16 visible ASCII characters. Programs send it as
    /// `Authorization: Bearer …`; people type it into a form once, and their browser keeps a cookie that is
    /// made of it. The Monitor keeps only a digest, and never writes it anywhere.
    ///
    /// It travels as the connection does: put a proxy with TLS in front of an address that is not of this
    /// machine.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Answers also under this name, without a port, that of a proxy for instance. Without it a request has
    /// to name an IP address or `localhost`: a name that others own could be made to lead here.
    pub fn host(mut self, name: impl Into<String>) -> Self {
        self.hosts.push(name.into().to_ascii_lowercase());
        self
    }

    /// Listens, and answers in the background.
    ///
    /// # Errors
    /// [`MonitorError::TokenNeeded`], [`MonitorError::WeakToken`], [`MonitorError::UnusableToken`],
    /// [`MonitorError::Address`] or [`MonitorError::Listen`].
    pub async fn serve(self) -> Result<Serving, MonitorError> {
        let token = self.token.as_deref().map(Token::new).transpose()?;
        let unresolved = |source| MonitorError::Address {
            address: self.address.clone(),
            source,
        };
        let mut found = tokio::net::lookup_host(&self.address)
            .await
            .map_err(unresolved)?;
        let address: SocketAddr = found
            .next()
            .ok_or_else(|| unresolved(std::io::ErrorKind::NotFound.into()))?;
        if token.is_none() && !address.ip().is_loopback() {
            return Err(MonitorError::TokenNeeded { address });
        }
        let listen = |source| MonitorError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let (serving, stopping) = Serving::new(address);
        let app = Arc::new(App::new(self.skail, token, self.hosts, stopping));
        Ok(server::run(serving, listener, app::router(&app), &app))
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor")
            .field("address", &self.address)
            .field("token", &self.token.as_ref().map(|_| "(hidden)"))
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}
