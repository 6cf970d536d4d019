//! A function that blocks its thread is named in the log, also where that stops the whole runtime.
//!
//! A program of its own, since who listens to logs listens to the whole process.
#![allow(
    clippy::unwrap_used,
    reason = "what is wrong ends the test, in its helpers too"
)]

use std::fmt::{Debug, Write as _};
use std::sync::mpsc;
use std::time::Duration;

use skail_runtime::prelude::*;
use skail_runtime::store::MemoryStore;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Hands on what is logged as an error.
#[derive(Debug)]
struct Errors(mpsc::Sender<String>);

struct Text<'a>(&'a mut String);

impl Visit for Text<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, "{}={value:?} ", field.name());
    }
}

impl Subscriber for Errors {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::ERROR
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = String::new();
        event.record(&mut Text(&mut line));
        let _ = self.0.send(line);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Lets a function go on.
struct Gate(std::sync::Mutex<mpsc::Receiver<()>>);

#[skail_function]
async fn blocks_its_thread(#[state] gate: &Gate) -> anyhow::Result<u32> {
    gate.0.lock().unwrap().recv().unwrap();
    Ok(7)
}

/// The runtime has one thread, and that is the blocked one.
#[test]
fn a_function_that_blocks_its_thread_is_named_once_and_goes_on() {
    let (errors, logged) = mpsc::channel();
    tracing::subscriber::set_global_default(Errors(errors)).unwrap();
    let (open, gate) = mpsc::channel();
    let engine = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let skail = Skail::builder()
                .store(MemoryStore::new())
                .state(Gate(std::sync::Mutex::new(gate)))
                .poll_patience(Duration::from_millis(50))
                .start()
                .await
                .unwrap();
            let execution = skail.start(blocks_its_thread()).id("stuck").await.unwrap();
            let result = execution.result().await.unwrap();
            skail.shutdown().await.unwrap();
            result
        })
    });
    let said = logged.recv_timeout(Duration::from_secs(60)).unwrap();
    for part in ["stuck", "blocks_its_thread", "blocked_thread.rs", "50ms"] {
        assert!(said.contains(part), "{said}");
    }
    open.send(()).unwrap();
    assert_eq!(engine.join().unwrap(), 7);
    assert_eq!(logged.try_iter().count(), 0, "it is told once");
}
