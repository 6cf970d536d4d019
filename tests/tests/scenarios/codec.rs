//! A codec stands between every payload and the store.

use skail_runtime::codec::{Codec, CodecError};
use skail_runtime::prelude::*;
use skail_runtime::store::{Store as _, StoreError};
use skail_runtime::{ExecutionError, Sequence};

use super::support::{Bench, Runs};

/// Turns every byte around and puts its key id in front.
struct Turned(u8);

impl Codec for Turned {
    fn encode(&self, plain: &[u8]) -> Result<Vec<u8>, CodecError> {
        Ok(std::iter::once(self.0)
            .chain(plain.iter().map(|byte| !byte))
            .collect())
    }

    fn decode(&self, stored: &[u8]) -> Result<Vec<u8>, CodecError> {
        match stored.split_first() {
            Some((key, rest)) if *key == self.0 => Ok(rest.iter().map(|byte| !byte).collect()),
            _ => Err("it was written with another key".into()),
        }
    }
}

#[skail_command]
async fn greet(#[state] runs: &Runs, name: String) -> anyhow::Result<String> {
    runs.count("greet");
    Ok(format!("hello {name}"))
}

#[skail_function]
async fn greets(name: String) -> anyhow::Result<String> {
    Ok(greet(name).await?)
}

async fn engine(bench: &Bench, key: u8) -> Skail {
    bench
        .builder()
        .codec(Turned(key))
        .start()
        .await
        .expect("the engine starts")
}

#[tokio::test]
async fn no_payload_reaches_the_store_in_the_clear_and_all_come_back() {
    let bench = Bench::new();
    let skail = engine(&bench, 1).await;
    let execution = skail
        .start(greets("Ada".to_owned()))
        .id("one")
        .await
        .unwrap();
    assert_eq!(execution.result().await.unwrap(), "hello Ada");
    let stored = bench
        .store
        .history(execution.id(), Sequence(0), usize::MAX)
        .await
        .unwrap();
    assert!(!format!("{stored:?}").contains("Ada"), "{stored:#?}");
    skail.kill().await;
    // Another process answers from the store, and knows the same start again.
    let bench = Bench {
        store: bench.store.crash(),
        ..bench
    };
    let skail = engine(&bench, 1).await;
    let again = skail
        .start(greets("Ada".to_owned()))
        .id("one")
        .await
        .unwrap();
    assert_eq!(again.result().await.unwrap(), "hello Ada");
    assert_eq!(bench.runs.of("greet"), 1);
}

#[tokio::test]
async fn a_payload_that_the_codec_cannot_read_stops_its_execution_and_no_other() {
    let bench = Bench::new();
    let skail = engine(&bench, 1).await;
    let old = skail
        .start(greets("Ada".to_owned()))
        .id("old")
        .delay(std::time::Duration::from_secs(60));
    old.await.unwrap();
    skail.kill().await;
    let bench = Bench {
        store: bench.store.crash(),
        ..bench
    };
    let skail = engine(&bench, 2).await;
    let new = skail
        .start(greets("Grace".to_owned()))
        .id("new")
        .await
        .unwrap();
    assert_eq!(new.result().await.unwrap(), "hello Grace");
    let old = skail
        .execution::<String>(&ExecutionId::new("old").unwrap())
        .await
        .unwrap();
    let error = old.result().await.unwrap_err();
    assert!(
        matches!(&error, ExecutionError::Store(StoreError::Damaged { execution, .. })
            if execution.as_str() == "old"),
        "{error}"
    );
}
