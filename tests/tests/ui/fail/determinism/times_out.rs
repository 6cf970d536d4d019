//! A trap in the body of a function.
use skail_runtime::skail_function;

#[skail_function]
async fn process() -> anyhow::Result<()> {
    let _ = tokio::time::timeout(std::time::Duration::ZERO, async {}).await;
    Ok(())
}

fn main() {}
