//! `_` is no name.
use skail_runtime::skail_command;

#[skail_command]
async fn charge(_: u64) -> anyhow::Result<()> {
    Ok(())
}

fn main() {}
