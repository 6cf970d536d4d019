//! A trap in the body of a function.
use skail_runtime::skail_function;

#[skail_function]
async fn process() -> anyhow::Result<()> {
    tokio::time::sleep(std::time::Duration::ZERO).await;
    Ok(())
}

fn main() {}
