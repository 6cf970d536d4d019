//! `#[state]` on something that is not lent.
use skail_runtime::skail_command;

pub struct Gateway;

#[skail_command]
async fn charge(#[state] gateway: Gateway) -> anyhow::Result<()> {
    drop(gateway);
    Ok(())
}

fn main() {}
