//! A body that names its own function gets another call of it.
#![deny(warnings)]

use skail_runtime::{FunctionCall, skail_function};

#[skail_function]
async fn count_down(number: u64) -> anyhow::Result<u64> {
    let next: FunctionCall<u64> = count_down(number - 1);
    drop(next);
    Ok(number)
}

fn main() {
    let _ = count_down(3);
}
