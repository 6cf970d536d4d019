//! A lifetime is a generic parameter too.
use skail_runtime::skail_command;

#[skail_command]
async fn charge<'a>(note: std::borrow::Cow<'a, str>) -> anyhow::Result<usize> {
    Ok(note.len())
}

fn main() {}
