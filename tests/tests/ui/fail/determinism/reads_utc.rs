//! A trap in the body of a function.
use skail_runtime::skail_function;

struct Utc;

impl Utc {
    fn now() {}
}

#[skail_function]
async fn process() -> anyhow::Result<()> {
    let _ = Utc::now();
    Ok(())
}

fn main() {}
