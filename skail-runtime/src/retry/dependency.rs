//! What is set for a dependency.
//!
//! Owns the pair of breaker and budget. What runs under it is the engine's.

use super::{Breaker, Budget, InvalidSetting};

/// Something outside that commands call, a payment gateway for instance: one circuit breaker and one
/// retry budget, shared by all commands of an engine that name it. Another engine, or another process,
/// learns of an outage for itself; a process that starts knows of none.
///
/// ```standalone_crate
/// use std::time::Duration;
/// use skail_runtime::prelude::*;
/// use skail_runtime::retry::{Breaker, Budget, Dependency};
/// use skail_runtime::store::MemoryStore;
///
/// #[skail_command(dependency = "gateway")]
/// async fn charge_card(invoice: u64) -> anyhow::Result<u64> {
///     Ok(invoice)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anyhow::Result<()> {
/// let gateway = Dependency::new()
///     .breaker(Breaker::new().cool_down(Duration::from_secs(10)))
///     .budget(Budget::new().per_mille(50));
/// let skail = Skail::builder()
///     .store(MemoryStore::new())
///     .dependency("gateway", gateway)
///     .start()
///     .await?;
/// # skail.shutdown().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "it does something once the builder has it"]
pub struct Dependency {
    pub(crate) breaker: Option<Breaker>,
    pub(crate) budget: Option<Budget>,
}

impl Dependency {
    /// With [`Breaker::DEFAULT`] and [`Budget::DEFAULT`]: what a dependency has that commands name and
    /// the builder does not.
    pub const DEFAULT: Self = Self {
        breaker: Some(Breaker::DEFAULT),
        budget: Some(Budget::DEFAULT),
    };

    /// [`Dependency::DEFAULT`], to be changed.
    pub const fn new() -> Self {
        Self::DEFAULT
    }

    /// With this breaker.
    pub const fn breaker(mut self, breaker: Breaker) -> Self {
        self.breaker = Some(breaker);
        self
    }

    /// Without a breaker: attempts go on while it is down, as fast as backoff and budget let them.
    pub const fn without_breaker(mut self) -> Self {
        self.breaker = None;
        self
    }

    /// With this budget.
    pub const fn budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Without a budget: retries come as fast as backoff and breaker let them.
    pub const fn without_budget(mut self) -> Self {
        self.budget = None;
        self
    }

    /// Whether this can work.
    ///
    /// # Errors
    /// [`InvalidSetting`] names what cannot work.
    pub fn check(&self) -> Result<(), InvalidSetting> {
        self.breaker.map_or(Ok(()), |breaker| breaker.check())?;
        self.budget.map_or(Ok(()), |budget| budget.check())
    }
}

impl Default for Dependency {
    fn default() -> Self {
        Self::DEFAULT
    }
}
