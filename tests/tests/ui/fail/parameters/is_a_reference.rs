//! A client that was meant to be lent.
use skail_runtime::skail_command;

struct Gateway;

#[skail_command]
async fn charge(gateway: &Gateway, invoice: u64) -> anyhow::Result<u64> {
    let _ = gateway;
    Ok(invoice)
}

fn main() {}
