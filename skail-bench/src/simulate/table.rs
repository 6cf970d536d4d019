//! The figures: as CSV files, and as Markdown tables for the documentation.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::contention::Curve;
use super::outage::{self, DOWN, Outcome, Strategy};

/// Writes `contention.csv`; gives the table of the documentation.
pub(super) fn contention(curves: &[Curve], out: &Path) -> anyhow::Result<String> {
    let mut csv = String::from("strategy,clients,calls,completion_ms\n");
    for curve in curves {
        for (clients, point) in &curve.points {
            let name = curve.strategy.name().replace(", ", " ");
            writeln!(
                csv,
                "{name},{clients},{:.1},{:.1}",
                point.calls, point.millis
            )?;
        }
    }
    fs::write(out.join("contention.csv"), csv)?;

    let mut text = String::from("| clients |");
    for curve in curves {
        write!(text, " {}: calls / ms |", curve.strategy.name())?;
    }
    text.push_str("\n| --- |");
    text.push_str(&" --- |".repeat(curves.len()));
    for wanted in [10, 50, 100, 190] {
        write!(text, "\n| {wanted} |")?;
        for curve in curves {
            let point = curve.points.iter().find(|(clients, _)| *clients == wanted);
            if let Some((_, point)) = point {
                write!(text, " {:.0} / {:.0} |", point.calls, point.millis)?;
            }
        }
    }
    Ok(text)
}

/// Writes `outage.csv`, the load of each second by the usual one; gives the table of the documentation.
pub(super) fn outage(outcomes: &[(Strategy, Outcome)], out: &Path) -> anyhow::Result<String> {
    let mut csv = String::from("seconds_since_outage");
    for (strategy, _) in outcomes {
        write!(csv, ",{}", strategy.name().replace(", ", " "))?;
    }
    let longest = outcomes.iter().map(|(_, outcome)| outcome.load.len()).max();
    for second in 0..longest.unwrap_or(0) {
        let since = i128::try_from(second)? - i128::from(DOWN.as_secs());
        write!(csv, "\n{since}")?;
        for (_, outcome) in outcomes {
            let load = outcome.load.get(second).copied().unwrap_or(0);
            write!(csv, ",{:.3}", f64::from(load) / f64::from(outage::RATE))?;
        }
    }
    csv.push('\n');
    fs::write(out.join("outage.csv"), csv)?;

    let mut text = String::from(
        "| callers | peak load while it is down | peak load after it | failed calls | all caught up after |\n\
         | --- | --- | --- | --- | --- |",
    );
    for (strategy, outcome) in outcomes {
        let caught_up = outcome.recovered.saturating_sub(outage::UP);
        write!(
            text,
            "\n| {} | {:.1} | {:.2} | {} | {:.1} s |",
            strategy.name(),
            outcome.peak_while_down(),
            outcome.peak(),
            outcome.failed,
            caught_up.as_secs_f64(),
        )?;
    }
    Ok(text)
}
