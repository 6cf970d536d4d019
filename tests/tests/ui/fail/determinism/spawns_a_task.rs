//! A trap in the body of a function.
use skail_runtime::skail_function;

#[skail_function]
async fn process() -> anyhow::Result<()> {
    tokio::spawn(async {});
    Ok(())
}

fn main() {}
