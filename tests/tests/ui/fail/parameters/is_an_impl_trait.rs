//! A type without a name cannot be decoded.
use skail_runtime::skail_command;

#[skail_command]
async fn charge(note: impl Into<String>) -> anyhow::Result<usize> {
    Ok(note.into().len())
}

fn main() {}
