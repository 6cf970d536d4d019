//! What the attributes write passes lints that most code does not, even forbidden ones.
#![forbid(
    unsafe_code,
    unused_qualifications,
    missing_docs,
    missing_debug_implementations
)]
#![forbid(non_camel_case_types, non_snake_case, dead_code)]
#![forbid(unreachable_pub, single_use_lifetimes, trivial_casts, unused_results)]
#![forbid(
    elided_lifetimes_in_paths,
    unit_bindings,
    let_underscore_drop,
    unused_import_braces
)]
#![deny(
    warnings,
    unused,
    nonstandard_style,
    future_incompatible,
    rust_2018_idioms
)]

use skail_runtime::prelude::*;

/// Lent to commands.
#[derive(Debug)]
pub struct Gateway;

/// Charges a card.
#[skail_command(
    retry_count = 1,
    timeout = "1s",
    backoff(base = "1s"),
    idempotency_key = "{invoice}"
)]
pub async fn charge(#[state] gateway: &Gateway, invoice: u64) -> anyhow::Result<u64> {
    drop(format!("{gateway:?}"));
    Ok(invoice)
}

/// Writes it down.
#[skail_command(blocking)]
pub fn write(text: String) -> anyhow::Result<()> {
    drop(text);
    Ok(())
}

/// Processes an order.
#[skail_function(retry_count = 1)]
pub async fn process(invoice: u64) -> anyhow::Result<u64> {
    let call: CommandCall<u64> = charge(invoice);
    write(String::new()).await?;
    Ok(call.await?)
}

fn main() {
    drop(process(1));
}
