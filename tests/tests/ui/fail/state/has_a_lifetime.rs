//! Nobody can promise longer than the body.
use skail_runtime::skail_command;

pub struct Gateway;

#[skail_command]
async fn charge(#[state] gateway: &'static Gateway) -> anyhow::Result<()> {
    let _ = gateway;
    Ok(())
}

fn main() {}
