//! No return type at all.
use skail_runtime::skail_function;

#[skail_function]
async fn process(invoice: u64) {
    drop(invoice);
}

fn main() {}
