//! A command is run, not computed.
use skail_runtime::skail_command;

#[skail_command(blocking)]
const fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
