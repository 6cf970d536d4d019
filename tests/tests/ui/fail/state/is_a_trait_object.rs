//! The builder holds values of types with a size.
use skail_runtime::skail_command;

pub trait Gateway: Send + Sync {}

#[skail_command]
async fn charge(#[state] gateway: &dyn Gateway) -> anyhow::Result<()> {
    let _ = gateway;
    Ok(())
}

fn main() {}
