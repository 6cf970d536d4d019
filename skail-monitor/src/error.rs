//! Why a Monitor was not served.

use std::io;
use std::net::SocketAddr;

/// Why a [`Monitor`](crate::Monitor) was not served. Nothing listens then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MonitorError {
    /// The address is not one of this machine alone, and no token guards it.
    #[error(
        "the Monitor was not served at {address}: others than this machine reach that address, so it needs a token; give it one with `Monitor::new(&skail).address(…).token(…)`, or serve it at 127.0.0.1"
    )]
    TokenNeeded {
        /// The address asked for.
        address: SocketAddr,
    },
    /// The token can be guessed.
    #[error(
        "the Monitor was not served: its token has {length} bytes and needs at least {least}; make one of random characters"
    )]
    WeakToken {
        /// How long the token is, in bytes.
        length: usize,
        /// How long it has to be, in bytes.
        least: usize,
    },
    /// A token that no HTTP header can carry.
    #[error(
        "the Monitor was not served: its token may hold only visible ASCII characters, since an HTTP header carries it"
    )]
    UnusableToken,
    /// The text names no address.
    #[error("the Monitor was not served: `{address}` is no address with a port: {source}")]
    Address {
        /// The text.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// The system does not let it listen there.
    #[error(
        "the Monitor was not served at {address}: {source}; if another program is there, choose another port, or port 0 for a free one"
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
}
