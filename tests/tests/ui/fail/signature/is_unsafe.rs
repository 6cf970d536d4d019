//! Nobody can vouch for a call after a restart.
use skail_runtime::skail_command;

#[skail_command]
async unsafe fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
