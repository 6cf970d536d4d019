//! `cfg` on a parameter.
use skail_runtime::skail_command;

#[skail_command]
async fn charge(invoice: u64, #[cfg(unix)] card: u64) -> anyhow::Result<u64> {
    Ok(invoice + card)
}

fn main() {}
