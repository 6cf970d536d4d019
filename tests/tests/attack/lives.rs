//! The engine's life: shutdowns that are given up or fail, defects in what users plug in.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use skail_runtime::ExecutionError;
use skail_runtime::codec::{Codec, CodecError};
use skail_runtime::prelude::*;
use skail_runtime::store::StoreError;
use skail_tests::{Cuts, Line, UnsteadyStore};

use super::support::{Bench, Gates, soon};

#[skail_command]
async fn stays_at_a_gate(#[state] gates: &Gates) -> anyhow::Result<u32> {
    gates.pass("stay").await;
    Ok(7)
}

#[skail_function]
async fn stays() -> anyhow::Result<u32> {
    Ok(stays_at_a_gate().await?)
}

#[tokio::test]
async fn a_shutdown_that_was_given_up_can_be_made_again_and_closes_the_store() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(stays()).await.unwrap();
    bench.gates.reached("stay", 1).await;
    // Polled once, which begins it, and dropped.
    assert!(futures::poll!(Box::pin(skail.shutdown())).is_pending());
    bench.gates.open("stay", 1);
    soon("the shutdown", skail.shutdown()).await.unwrap();
    let error = execution.header().await.unwrap_err();
    assert!(matches!(error, ExecutionError::Store(StoreError::Closed)));
}

async fn unsteady(bench: &Bench) -> (Skail, Cuts) {
    let cuts = Cuts::default();
    let store = UnsteadyStore::new(bench.store.clone(), &cuts);
    let skail = bench.builder().store(store).start().await.unwrap();
    (skail, cuts)
}

#[tokio::test]
async fn who_waits_is_told_though_the_store_cannot_be_closed() {
    let bench = Bench::new();
    let (skail, cuts) = unsteady(&bench).await;
    let delay = std::time::Duration::from_secs(3600);
    let execution = skail.start(stays()).delay(delay).await.unwrap();
    cuts.set(&[Line::Close]);
    skail.shutdown().await.unwrap_err();
    // The store is open still, the engine is gone.
    let error = soon("the error", execution.result()).await.unwrap_err();
    assert!(matches!(error, ExecutionError::Store(StoreError::Closed)));
    cuts.set(&[]);
    skail.shutdown().await.unwrap();
    execution.header().await.unwrap_err();
}

#[tokio::test]
async fn a_panic_of_the_store_ends_the_engine_and_who_waits_is_told() {
    let bench = Bench::new();
    let (skail, cuts) = unsteady(&bench).await;
    let first = skail.start(stays()).await.unwrap();
    bench.gates.reached("stay", 1).await;
    cuts.set(&[Line::Defect]);
    let second = skail.start(stays()).await.unwrap();
    for execution in [first, second] {
        let error = soon("the error", execution.result()).await.unwrap_err();
        assert!(error.to_string().contains("panicked"), "{error}");
    }
}

/// Panics at what it does not like, as a slip in a user's codec would.
#[derive(Debug, Default, Clone)]
struct Touchy(Arc<AtomicBool>);

impl Codec for Touchy {
    fn encode(&self, plain: &[u8]) -> Result<Vec<u8>, CodecError> {
        Ok(plain.to_vec())
    }

    fn decode(&self, stored: &[u8]) -> Result<Vec<u8>, CodecError> {
        assert!(!self.0.load(Ordering::SeqCst), "the key is not there");
        Ok(stored.to_vec())
    }
}

#[tokio::test]
async fn a_panic_of_the_codec_stops_one_execution_and_not_the_engine() {
    let bench = Bench::new();
    let codec = Touchy::default();
    let skail = bench.builder().codec(codec.clone()).start().await.unwrap();
    codec.0.store(true, Ordering::SeqCst);
    let bad = skail.start(stays()).await.unwrap();
    let error = soon("the error", bad.result()).await.unwrap_err();
    assert!(
        error.to_string().contains("the key is not there"),
        "{error}"
    );
    codec.0.store(false, Ordering::SeqCst);
    let good = skail.start(stays()).await.unwrap();
    bench.gates.open("stay", 1);
    assert_eq!(soon("the result", good.result()).await.unwrap(), 7);
}
