//! There is one word to allow with.
use skail_runtime::skail_function;

#[skail_function]
async fn process() -> anyhow::Result<()> {
    #[skail(allow_everything)]
    drop(1);
    Ok(())
}

fn main() {}
