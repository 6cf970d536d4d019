//! Everything that is wrong is told at once, and each on its place.
use skail_runtime::skail_command;

#[skail_command(retries = 3)]
async fn charge(note: &str, (first, second): (u64, u64)) -> anyhow::Result<u64> {
    Ok(note.len() as u64 + first + second)
}

fn main() {}
