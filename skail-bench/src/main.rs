//! What can be measured and computed about Skail: workloads (`run`, which may be left out), each beside a
//! baseline that ran in the same process a moment before, and simulations of retries (`simulate`).
//!
//! `run` prints one line of JSON per workload. The machine is shared and noisy: read medians and ratios.

mod baseline;
mod report;
mod scale;
mod simulate;
mod store;
mod workloads;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Measures durable steps per second, or simulates retries.
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: Options,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure durable steps per second; what happens without a subcommand.
    Run(Options),
    /// Measure what grows with the size of things.
    Scale(scale::Options),
    /// Simulate retries on a virtual clock: tables and pictures for the documentation.
    Simulate(simulate::Options),
}

/// What to measure, and how.
#[derive(Debug, Args)]
struct Options {
    /// The workloads to run; all of them without one.
    workloads: Vec<Workload>,
    /// Runs per workload; the median counts.
    #[arg(long, default_value_t = 5)]
    repeat: usize,
    /// Where executions are kept.
    #[arg(long, value_enum, default_value_t = StoreKind::Sled)]
    store: StoreKind,
    /// The directory for stores and the baseline's file; a temporary one without it.
    #[arg(long)]
    dir: Option<PathBuf>,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Workload {
    /// 256 executions of 20 steps each, at once.
    Concurrent,
    /// One execution of 1,000 steps, one after the other.
    Sequential,
    /// 10,000 executions of one step each.
    Short,
    /// One execution that joins 200 steps.
    Parallel,
    /// The store alone: one client that commits steps.
    #[value(name = "store-1")]
    Store1,
    /// The store alone: 16 clients.
    #[value(name = "store-16")]
    Store16,
    /// The store alone: 256 clients.
    #[value(name = "store-256")]
    Store256,
    /// The store alone: 10,000 executions of one step each.
    StoreShort,
    /// The store alone: what a rewriting keeps of 10,000 executions, half of them deleted.
    StoreRewrite,
}

/// Where executions are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StoreKind {
    /// Durable: a directory.
    Sled,
    /// The engine alone: nothing is written.
    Memory,
}

fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    match cli.command {
        Some(Command::Simulate(options)) => simulate::run(&options),
        Some(Command::Run(options)) => measure(&options),
        Some(Command::Scale(options)) => scale::run(&options),
        None => measure(&cli.run),
    }
}

fn measure(options: &Options) -> anyhow::Result<()> {
    let workloads = if options.workloads.is_empty() {
        vec![
            Workload::Concurrent,
            Workload::Sequential,
            Workload::Short,
            Workload::Parallel,
        ]
    } else {
        options.workloads.clone()
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let temporary = tempfile::tempdir()?;
    let dir = options
        .dir
        .clone()
        .unwrap_or_else(|| temporary.path().to_owned());
    for workload in workloads {
        let mut measured = report::Measured::new(workload.name(), workload.unit());
        for run in 0..options.repeat.max(1) {
            let dir = dir.join(format!("{}-{run}", workload.name()));
            std::fs::create_dir_all(&dir)?;
            measured.baseline(runtime.block_on(baseline::run(workload.clients(), &dir))?);
            measured.run(match workload {
                Workload::Store1 | Workload::Store16 | Workload::Store256 => {
                    runtime.block_on(store::commits(workload.clients(), &dir))?
                }
                Workload::StoreShort => runtime.block_on(store::short(&dir))?,
                Workload::StoreRewrite => runtime.block_on(store::rewrite(&dir))?,
                _ => runtime.block_on(workloads::run(workload, options.store, &dir))?,
            });
            std::fs::remove_dir_all(&dir)?;
        }
        measured.print()?;
    }
    Ok(())
}

impl Workload {
    fn name(self) -> &'static str {
        match self {
            Self::Concurrent => "concurrent",
            Self::Sequential => "sequential",
            Self::Short => "short",
            Self::Parallel => "parallel",
            Self::Store1 => "store-1",
            Self::Store16 => "store-16",
            Self::Store256 => "store-256",
            Self::StoreShort => "store-short",
            Self::StoreRewrite => "store-rewrite",
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Short | Self::StoreShort | Self::StoreRewrite => "executions/s",
            _ => "steps/s",
        }
    }

    /// How many writers the baseline has: as many as there are executions with a step under way.
    fn clients(self) -> usize {
        match self {
            Self::Concurrent | Self::Short | Self::Store256 | Self::StoreShort => 256,
            // It writes alone.
            Self::StoreRewrite => 1,
            Self::Sequential | Self::Store1 => 1,
            Self::Parallel => 200,
            Self::Store16 => 16,
        }
    }
}
