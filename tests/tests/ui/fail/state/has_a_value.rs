//! `#[state]` takes nothing.
use skail_runtime::skail_command;

pub struct Gateway;

#[skail_command]
async fn charge(#[state(shared)] gateway: &Gateway) -> anyhow::Result<()> {
    let _ = gateway;
    Ok(())
}

fn main() {}
