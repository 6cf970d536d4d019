//! The message points into the body.
use skail_runtime::skail_command;

#[skail_command]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    let text: String = invoice;
    drop(text);
    Ok(1)
}

fn main() {}
