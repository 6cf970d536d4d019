//! An alias hides the borrow from the attribute, but not from the compiler.
use skail_runtime::skail_command;

type Note = &'static str;

#[skail_command]
async fn charge(note: Note) -> anyhow::Result<usize> {
    Ok(note.len())
}

fn main() {}
