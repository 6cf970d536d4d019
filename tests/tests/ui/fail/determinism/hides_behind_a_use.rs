//! A trap that is brought into scope first.
use skail_runtime::skail_function;

#[skail_function]
async fn process() -> anyhow::Result<()> {
    use tokio::time::{Duration, sleep};

    sleep(Duration::ZERO).await;
    Ok(())
}

fn main() {}
