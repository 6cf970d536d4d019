//! `blocking` is for a plain `fn`.
use skail_runtime::skail_command;

#[skail_command(blocking)]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
