//! A command may make ids for anything but its idempotency key.
#![deny(warnings)]

use skail_runtime::{idempotency_key, skail_command};
use uuid::Uuid;

struct Request;

impl Request {
    fn header(self, _name: &str, _value: impl ToString) -> Self {
        self
    }
}

#[skail_command]
async fn charge(invoice: u64) -> anyhow::Result<Uuid> {
    let trace = Uuid::now_v7();
    let key = idempotency_key();
    let _ = Request
        .header("X-Request-Id", Uuid::now_v7())
        .header("X-Trace-Id", trace)
        .header("Idempotency-Key", key)
        .header("X-Invoice", invoice);
    Ok(trace)
}

fn main() {
    let _ = charge(1);
}
