//! A borrow inside of a type.
use skail_runtime::skail_command;

#[skail_command]
async fn charge(notes: Vec<&'static str>) -> anyhow::Result<usize> {
    Ok(notes.len())
}

fn main() {}
