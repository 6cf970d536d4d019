//! The closure of a `record` is for values at hand: a file is read in a command.
use skail_runtime::prelude::*;

#[skail_function]
async fn process() -> anyhow::Result<()> {
    record("settings", || std::fs::read_to_string("settings").ok()).await?;
    Ok(())
}

fn main() {}
