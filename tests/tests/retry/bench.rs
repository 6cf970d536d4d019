//! The bench of these tests: the one of the scenarios, and a gateway beside it.

use std::ops::{Deref, DerefMut};

use skail_runtime::Builder;
use skail_runtime::prelude::*;

use super::gateway::Gateway;
use super::random_attempts::Outside;
use super::support;
pub(crate) use super::support::Runs;

#[derive(Debug)]
pub(crate) struct Bench {
    bench: support::Bench,
    pub(crate) gateway: Gateway,
    pub(crate) outside: Outside,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let bench = support::Bench::new();
        let gateway = Gateway::new(&bench.clock);
        let outside = Outside::default();
        Self {
            bench,
            gateway,
            outside,
        }
    }

    pub(crate) fn builder(&self) -> Builder {
        self.bench
            .builder()
            .state(self.gateway.clone())
            .state(self.outside.clone())
    }

    pub(crate) async fn engine(&self) -> Skail {
        self.builder().start().await.expect("the engine starts")
    }

    /// The process dies as it stands; the next one starts on what was durable.
    pub(crate) async fn crash(&mut self, skail: Skail) -> Skail {
        skail.kill().await;
        self.bench.store = self.bench.store.crash();
        self.engine().await
    }
}

impl Deref for Bench {
    type Target = support::Bench;

    fn deref(&self) -> &support::Bench {
        &self.bench
    }
}

impl DerefMut for Bench {
    fn deref_mut(&mut self) -> &mut support::Bench {
        &mut self.bench
    }
}
