//! Types, names and literals from a `macro_rules!` come in invisible parentheses.
#![deny(warnings)]

use skail_runtime::{skail_command, skail_function};

pub struct Gateway;

macro_rules! command {
    ($vis:vis $name:ident, $parameter:ident: $ty:ty, $state:ty, $output:ty, $key:literal, $count:expr, $wait:literal) => {
        #[skail_command(
            idempotency_key = $key,
            retry_count = $count,
            timeout = $wait,
            backoff(base = $wait, factor = 2),
            name = "made"
        )]
        $vis async fn $name(#[state] gateway: $state, $parameter: $ty) -> $output {
            let _ = gateway;
            Ok($parameter)
        }

        #[skail_function(crate = $crate::runtime)]
        async fn process($parameter: $ty) -> $output {
            Ok($name($parameter).await?)
        }
    };
}

mod runtime {
    pub use skail_runtime::*;
}

command!(pub(crate) charge, invoice: u64, &Gateway, anyhow::Result<u64>, "{invoice}", 3, "1s");

fn main() {
    let _ = process(1);
}
