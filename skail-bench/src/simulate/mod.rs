//! Simulations of retries, with the delays, budgets and breakers that the engine uses.
//!
//! Owns what is simulated and what is written: tables as CSV, pictures as SVG. Time is virtual and
//! randomness seeded, so that the same command writes the same files.

mod contention;
mod outage;
mod picture;
mod queue;
mod table;

use std::path::PathBuf;

use clap::Args;

/// What is simulated, and where it goes.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The directory for tables and pictures.
    #[arg(long, default_value = "docs/retry")]
    out: PathBuf,
    /// Runs per number of clients in the simulation of contention; the mean counts.
    #[arg(long, default_value_t = 100)]
    runs: u32,
    /// Where the random numbers begin.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs both simulations and writes what they came to.
#[allow(clippy::print_stdout, reason = "this is the program's result")]
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    std::fs::create_dir_all(&options.out)?;
    let curves = contention::sweep(options.runs.max(1), options.seed)?;
    println!("{}", table::contention(&curves, &options.out)?);
    picture::contention(&curves, &options.out)?;
    let outages = outage::run_all(options.seed)?;
    println!("{}", table::outage(&outages, &options.out)?);
    picture::outage(&outages, &options.out)?;
    println!("written to {}", options.out.display());
    Ok(())
}
