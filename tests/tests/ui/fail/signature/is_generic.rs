//! One recorded name, many bodies.
use skail_runtime::skail_command;

#[skail_command]
async fn charge<T: Into<u64>>(invoice: T) -> anyhow::Result<u64> {
    Ok(invoice.into())
}

fn main() {}
