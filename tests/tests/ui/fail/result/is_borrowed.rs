//! The result outlives what it was borrowed from.
use skail_runtime::skail_command;

#[skail_command]
async fn charge(#[state] name: &String) -> anyhow::Result<&str> {
    Ok(name)
}

fn main() {}
