//! Figures and how they are printed: medians, and ratios taken inside a run.

use serde::Serialize;

/// The figures of one workload.
#[derive(Debug)]
pub(crate) struct Measured {
    workload: &'static str,
    unit: &'static str,
    runs: Vec<f64>,
    baselines: Vec<f64>,
}

#[derive(Serialize)]
struct Line<'a> {
    workload: &'a str,
    unit: &'a str,
    median: f64,
    runs: &'a [f64],
    /// Bare file: append and fdatasync, grouped, as many writers as the workload has.
    baseline_commits_per_s: f64,
    /// The median over the runs of the workload's rate by the baseline's.
    ratio_to_baseline: f64,
}

impl Measured {
    pub(crate) fn new(workload: &'static str, unit: &'static str) -> Self {
        Self {
            workload,
            unit,
            runs: Vec::new(),
            baselines: Vec::new(),
        }
    }

    pub(crate) fn baseline(&mut self, per_second: f64) {
        self.baselines.push(per_second.round());
    }

    pub(crate) fn run(&mut self, per_second: f64) {
        self.runs.push(per_second.round());
    }

    /// Prints the line.
    #[allow(clippy::print_stdout, reason = "this is the program's result")]
    pub(crate) fn print(&self) -> anyhow::Result<()> {
        let ratios = self
            .runs
            .iter()
            .zip(&self.baselines)
            .map(|(run, base)| run / base);
        let line = Line {
            workload: self.workload,
            unit: self.unit,
            median: median(self.runs.iter().copied()),
            runs: &self.runs,
            baseline_commits_per_s: median(self.baselines.iter().copied()),
            ratio_to_baseline: (median(ratios) * 1_000.0).round() / 1_000.0,
        };
        println!("{}", serde_json::to_string(&line)?);
        Ok(())
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
