//! What calls something outside is a command.
use skail_runtime::skail_function;

#[skail_function(dependency = "gateway")]
async fn process(invoice: u64) -> anyhow::Result<u64> {
    Ok(invoice)
}

fn main() {}
