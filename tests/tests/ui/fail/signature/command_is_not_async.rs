//! A plain `fn` without `blocking`.
use skail_runtime::skail_command;

#[skail_command]
fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
