//! A trap in the body of a function.
use skail_runtime::skail_function;

struct Uuid;

impl Uuid {
    fn new_v4() {}
}

#[skail_function]
async fn process() -> anyhow::Result<()> {
    let _ = Uuid::new_v4();
    Ok(())
}

fn main() {}
