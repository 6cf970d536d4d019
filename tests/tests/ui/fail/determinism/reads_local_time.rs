//! A trap in the body of a function.
use skail_runtime::skail_function;

struct Local;

impl Local {
    fn now() {}
}

#[skail_function]
async fn process() -> anyhow::Result<()> {
    let _ = Local::now();
    Ok(())
}

fn main() {}
