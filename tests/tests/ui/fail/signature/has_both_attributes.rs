//! One `fn`, one meaning.
use skail_runtime::skail_command;

#[skail_command]
#[skail_runtime::skail_function]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
