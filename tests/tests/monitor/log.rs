//! Takes what is logged on this thread.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Each event as its target and its fields.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<(String, String)>>>);

impl Log {
    /// What was logged under this target.
    pub(crate) fn of(&self, target: &str) -> Vec<String> {
        let events = self.0.lock().unwrap();
        let meant = events.iter().filter(|(it, _)| it == target);
        meant.map(|(_, fields)| fields.clone()).collect()
    }

    /// Everything that was logged.
    pub(crate) fn all(&self) -> String {
        format!("{:?}", self.0.lock().unwrap())
    }
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, "{field}={value:?} ").unwrap();
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        let target = event.metadata().target().to_owned();
        self.0.lock().unwrap().push((target, fields.0));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
