//! What grows with the size of things: long histories, many sleepers, searches in a full store. Each size is ten times the one
//! before.
//!
//! Owns what is measured at each size, and one line of JSON for it. Figures are of one run on one machine:
//! read how they change from one size to the next.

mod long;
mod searches;
mod sleepers;

use std::path::Path;

use clap::{Args, ValueEnum};
use serde::Serialize;

/// What grows, and how far.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// What grows.
    what: What,
    /// The largest size; the smaller ones are a tenth each, down to a thousandth.
    #[arg(long)]
    most: Option<u32>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    /// The steps of one execution: 50,000 at most unless told otherwise.
    Long,
    /// Sleeping executions: 100,000 at most unless told otherwise.
    Sleepers,
    /// Finished and failed executions that somebody looks through: 100,000 at most unless told otherwise.
    Searches,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let most = options.most.unwrap_or(match options.what {
        What::Long => 50_000,
        What::Sleepers | What::Searches => 100_000,
    });
    let sizes = [most / 1_000, most / 100, most / 10, most];
    for size in sizes.into_iter().filter(|size| *size > 0) {
        let directory = tempfile::tempdir()?;
        match options.what {
            What::Long => print(&long::run(size, directory.path())?)?,
            What::Sleepers => print(&sleepers::run(size, directory.path())?)?,
            What::Searches => print(&searches::run(size, directory.path())?)?,
        }
    }
    Ok(())
}

#[allow(clippy::print_stdout, reason = "this is the program's result")]
fn print(line: &impl Serialize) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string(line)?);
    Ok(())
}

/// The size of the files below a directory, in KiB.
fn kib_on_disk(directory: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() {
            kib_on_disk(&entry.path())? << 10
        } else {
            entry.metadata()?.len()
        };
    }
    Ok(bytes >> 10)
}

/// What the process holds in memory, in KiB; 0 where that cannot be known.
fn kib_in_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}

/// Three digits behind the point are enough, and more than is true.
fn rounded(figure: f64) -> f64 {
    (figure * 1e3).round() / 1e3
}
