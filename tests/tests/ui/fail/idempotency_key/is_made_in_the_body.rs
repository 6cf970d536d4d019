//! A key that is another one in each attempt.
use skail_runtime::skail_command;

pub struct Request;

impl Request {
    fn header(self, _name: &str, _value: String) -> Self {
        self
    }
}

#[skail_command]
async fn charge() -> anyhow::Result<()> {
    let _ = Request.header("Idempotency-Key", uuid::Uuid::now_v7().to_string());
    Ok(())
}

fn main() {}
