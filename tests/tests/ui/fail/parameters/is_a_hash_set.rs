//! A `HashSet` has no order to compare.
use skail_runtime::skail_command;

use std::collections::HashSet;

#[skail_command]
async fn charge(invoices: HashSet<u64>) -> anyhow::Result<usize> {
    Ok(invoices.len())
}

fn main() {}
