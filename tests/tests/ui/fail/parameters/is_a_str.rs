//! A borrowed text.
use skail_runtime::skail_command;

#[skail_command]
async fn charge(note: &str) -> anyhow::Result<usize> {
    Ok(note.len())
}

fn main() {}
