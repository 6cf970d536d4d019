//! A trap in the body of a function.
use skail_runtime::skail_function;

mod rand {
    pub fn random() {}
}

#[skail_function]
async fn process() -> anyhow::Result<()> {
    rand::random();
    Ok(())
}

fn main() {}
