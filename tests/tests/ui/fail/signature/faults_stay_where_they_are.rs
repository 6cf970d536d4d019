//! A mistake in a signature is no second mistake where the function is called.
use skail_runtime::{skail_command, skail_function};

#[skail_command]
async fn charge(note: &str) -> anyhow::Result<usize> {
    Ok(note.len())
}

#[skail_function]
async fn process() -> anyhow::Result<usize> {
    let charged: usize = charge("a note").await?;
    Ok(charged)
}

fn main() {}
