//! The progress bar.
//!
//! Owns standard error while the orders are being processed. It must never write to anything but a
//! terminal.

use std::io::{IsTerminal, stderr};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::figures::count;
use super::summary::Counts;

/// A bar with a count of each outcome beside it.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// Shows the bar, if standard error is a terminal.
    #[must_use]
    pub fn start(orders: usize) -> Self {
        if !stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(Some(orders as u64), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template(
            "{elapsed:>4} [{bar:30}] {pos}/{len} orders, {prefix}\n     {wide_msg}",
        ) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// Shows how far it got.
    pub fn show(&self, counts: &Counts, steps: u64) {
        self.0.set_position(counts.orders() as u64);
        self.0.set_prefix(format!("{} steps", count(steps)));
        self.0.set_message(format!(
            "{} confirmed, {} compensated, {} refunded, {} rejected",
            counts.confirmed,
            counts.compensated(),
            counts.refunded,
            counts.rejected()
        ));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
