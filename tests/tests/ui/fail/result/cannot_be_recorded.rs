//! What `Ok` holds knows no serde.
use skail_runtime::skail_command;

pub struct Charge;

#[skail_command]
async fn charge() -> anyhow::Result<Charge> {
    Ok(Charge)
}

fn main() {}
