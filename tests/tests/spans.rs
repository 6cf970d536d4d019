//! What a command logs can be told apart: its span names execution, step and attempt.
//!
//! A program of its own, since who listens to logs listens to the whole process.
#![allow(
    clippy::unwrap_used,
    reason = "what is wrong ends the test, in its helpers too"
)]

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use skail_runtime::prelude::*;
use skail_runtime::store::MemoryStore;
use skail_runtime::testing::VirtualClock;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps the texts of all events together with the fields of the spans that they were in.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    spans: Vec<String>,
    inside: Vec<usize>,
    lines: Vec<String>,
}

/// Writes fields down, except the text of an event, which comes first.
struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() || metadata.target().starts_with("spans")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = span.metadata().name().to_owned();
        span.record(&mut Fields(&mut fields));
        let mut state = self.0.lock().unwrap();
        state.spans.push(fields);
        Id::from_u64(state.spans.len() as u64)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut state = self.0.lock().unwrap();
        let inside = state.inside.iter().map(|&span| state.spans[span].clone());
        let mut line = inside.collect::<Vec<_>>().join(" / ");
        event.record(&mut Fields(&mut line));
        state.lines.push(line);
    }

    fn enter(&self, span: &Id) {
        let span = usize::try_from(span.into_u64() - 1).unwrap();
        self.0.lock().unwrap().inside.push(span);
    }

    fn exit(&self, _: &Id) {
        self.0.lock().unwrap().inside.pop();
    }
}

#[skail_command(retry_count = 1)]
async fn logs_a_line() -> anyhow::Result<()> {
    tracing::info!(number = attempt().number, "before");
    tokio::task::yield_now().await;
    tracing::info!(number = attempt().number, "after");
    anyhow::bail!("no")
}

#[skail_function(retry_count = 0)]
async fn has_a_command_that_logs() -> anyhow::Result<()> {
    Ok(logs_a_line().await?)
}

#[tokio::test]
async fn the_span_of_a_command_has_the_attempt_number_that_the_command_sees() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let clock = Arc::new(VirtualClock::new());
    let builder = Skail::builder().store(MemoryStore::new()).clock(clock);
    let skail = builder.start().await.unwrap();
    let execution = skail
        .start(has_a_command_that_logs())
        .id("order-1")
        .await
        .unwrap();
    execution.result().await.unwrap_err();
    let lines = log.0.lock().unwrap().lines.clone();
    let line = |attempt: u32, text: &str| {
        format!(
            "command execution=order-1 command=\"logs_a_line\" position=0 attempt={attempt} of=2 \
             message={text} number={attempt}"
        )
    };
    let expected = [(1, "before"), (1, "after"), (2, "before"), (2, "after")];
    assert_eq!(lines, expected.map(|(attempt, text)| line(attempt, text)));
}
