//! A trap in the body of a function.
use skail_runtime::skail_function;

#[skail_function]
async fn process() -> anyhow::Result<()> {
    let _ = std::time::SystemTime::now();
    Ok(())
}

fn main() {}
