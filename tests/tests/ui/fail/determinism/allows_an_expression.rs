//! The allowance is for whole statements.
use skail_runtime::skail_function;

#[skail_function]
async fn process() -> anyhow::Result<()> {
    drop(
        #[skail(allow_nondeterminism)]
        std::time::Instant::now(),
    );
    Ok(())
}

fn main() {}
