//! An `expect` is met, wherever its lint looks, and an `allow` reaches both places.
#![deny(warnings)]

use skail_runtime::skail_command;

#[skail_command]
#[expect(dead_code)]
async fn nobody_calls_this() -> anyhow::Result<()> {
    Ok(())
}

#[skail_command]
#[expect(unused_variables)]
async fn looks_at_nothing(invoice: u64) -> anyhow::Result<()> {
    Ok(())
}

#[skail_command]
#[allow(non_snake_case, unused_mut)]
#[inline]
async fn Shouts(mut invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {
    let _ = looks_at_nothing(1);
    let _ = Shouts(1);
}
