//! The attribute on something else.
use skail_runtime::skail_command;

#[skail_command]
struct Charge {
    invoice: u64,
}

fn main() {}
