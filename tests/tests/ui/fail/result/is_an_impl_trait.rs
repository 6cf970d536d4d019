//! A type without a name cannot be decoded.
use skail_runtime::skail_command;

#[skail_command]
async fn charge() -> anyhow::Result<impl Copy> {
    Ok(1)
}

fn main() {}
