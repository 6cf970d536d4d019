//! `Box<dyn Error>` is no `std::error::Error` itself.
use skail_runtime::skail_command;

#[skail_command]
async fn charge() -> Result<(), Box<dyn std::error::Error>> {
    Ok(())
}

fn main() {}
