//! Many bodies at once.
use skail_runtime::skail_command;

pub struct Gateway;

#[skail_command]
async fn charge(#[state] gateway: &mut Gateway) -> anyhow::Result<()> {
    let _ = gateway;
    Ok(())
}

fn main() {}
