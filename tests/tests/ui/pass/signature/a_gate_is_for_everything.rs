//! `cfg` below our attribute takes constructor, type and registration with it.
#![deny(warnings)]

use skail_runtime::skail_command;

#[skail_command]
#[cfg(any())]
async fn charge(_: NoSuchType) -> NoSuchType {}

#[skail_command]
#[cfg(all())]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

#[skail_command]
#[cfg_attr(all(), cfg(any()), doc = "Gone.")]
async fn charge(_: NoSuchType) -> NoSuchType {}

fn main() {
    let _ = charge(1);
}
