//! Nobody but Skail calls it.
use skail_runtime::skail_command;

#[skail_command(blocking)]
extern "C" fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
