//! A type without serde.
use skail_runtime::skail_command;

pub struct Order;

#[skail_command]
async fn charge(order: Order) -> anyhow::Result<()> {
    drop(order);
    Ok(())
}

fn main() {}
