//! An argument is recorded under a name.
use skail_runtime::skail_command;

#[skail_command]
async fn charge((invoice, amount): (u64, u64)) -> anyhow::Result<u64> {
    Ok(invoice + amount)
}

fn main() {}
