//! A trap in the body of a function.
use skail_runtime::skail_function;

mod reqwest {
    pub fn get() {}
}

#[skail_function]
async fn process() -> anyhow::Result<()> {
    reqwest::get();
    Ok(())
}

fn main() {}
