//! The allowance is for single statements.
use skail_runtime::skail_function;

#[skail_function]
#[skail(allow_nondeterminism)]
async fn process() -> anyhow::Result<()> {
    Ok(())
}

fn main() {}
