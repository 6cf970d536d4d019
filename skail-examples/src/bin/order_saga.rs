//! Processes a shop's orders as durable executions; `order_saga --help` says how.

use std::process::ExitCode;

use clap::Parser;
use skail_examples::order_saga::cli::Cli;
use skail_examples::order_saga::run;

#[tokio::main]
async fn main() -> ExitCode {
    run::main(&Cli::parse()).await
}
