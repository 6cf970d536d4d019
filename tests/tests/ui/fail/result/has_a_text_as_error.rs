//! A text is no error.
use skail_runtime::skail_command;

#[skail_command]
async fn charge() -> Result<(), String> {
    Err("refused".to_owned())
}

fn main() {}
