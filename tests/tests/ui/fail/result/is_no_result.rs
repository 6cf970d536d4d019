//! The return type is something else.
use skail_runtime::skail_command;

#[skail_command]
async fn charge(invoice: u64) -> Option<u64> {
    Some(invoice)
}

fn main() {}
