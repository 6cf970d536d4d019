//! The Monitor of Skail: a web page and a JSON API on which one sees every execution, reads why it failed,
//! and resumes it.
//!
//! It is served from the process whose engine it shows. One line does it:
//!
//! ```no_run
//! # use skail_runtime::prelude::*;
//! # async fn serve(skail: &Skail) -> Result<(), skail_monitor::MonitorError> {
//! let monitor = skail_monitor::serve(skail, "127.0.0.1:7878").await?;
//! println!("the Monitor is at {}", monitor.url());
//! # Ok(())
//! # }
//! ```
//!
//! Only programs of this machine reach that address. Any other one needs a token; see [`Monitor::token`].
//!
//! - **The page** is at `/`: an overview, a list with filters, one execution with its timeline. It changes by
//!   itself, and speaks English or Portuguese, as the browser asks.
//! - **The API** is below `/api/v1/`; `/api/v1/openapi.json` describes it.
//! - **Actions** are never done by a GET, and each leaves a `tracing` event with the target
//!   `skail_monitor::audit`: who, what, which execution, why, and what came of it.
//! - **Bounds** are fixed: the size of a request, of a page, of a history that is shown, the number of
//!   connections and of live streams, and the time that a client may take.

mod act;
mod api;
mod app;
mod error;
mod guard;
mod length;
mod live;
mod monitor;
mod page;
mod patient;
mod search;
mod server;
mod time;

pub use error::MonitorError;
pub use monitor::{Monitor, serve};
pub use server::Serving;
