//! What the user reads at the end.
//!
//! Owns the counting of outcomes and the text of the summary. All of it but the line about this run
//! is the same however often the program was killed on the way.

use std::fmt;
use std::time::Duration;

use rust_decimal::Decimal;

use super::audit::Mismatch;
use super::figures::{count, pounds};
use super::outcome::{Outcome, Setback};
use crate::requests;
use crate::shop::check::Rejection;

/// How many orders ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Charged and shipped.
    pub confirmed: usize,
    /// Cancellations, paid back.
    pub refunded: usize,
    /// Compensated, because an article ran short.
    pub out_of_stock: usize,
    /// Compensated, because the gateway declined.
    pub declined: usize,
    /// Compensated, because the gateway or the warehouse failed in every attempt.
    pub given_up: usize,
    /// Rejected, because the stock was corrected and nothing sold.
    pub stock_corrections: usize,
    /// Rejected for another reason.
    pub otherwise_rejected: usize,
    /// Without an outcome.
    pub failed: usize,
    /// The sum of all confirmed orders.
    pub charged: Decimal,
    /// The sum of all refunds.
    pub paid_back: Decimal,
}

impl Counts {
    /// Counts one more.
    pub fn add(&mut self, outcome: &Result<Outcome, String>) {
        let counter = match outcome {
            Ok(Outcome::Confirmed { amount }) => {
                self.charged += amount;
                &mut self.confirmed
            }
            Ok(Outcome::Refunded { amount }) => {
                self.paid_back += amount;
                &mut self.refunded
            }
            Ok(Outcome::Compensated { reason }) => match reason {
                Setback::OutOfStock { .. } => &mut self.out_of_stock,
                Setback::Declined { .. } => &mut self.declined,
                Setback::WarehouseFailed { .. } | Setback::GatewayFailed { .. } => {
                    &mut self.given_up
                }
            },
            Ok(Outcome::Rejected {
                reason: Rejection::StockCorrection { .. },
            }) => &mut self.stock_corrections,
            Ok(Outcome::Rejected { .. }) => &mut self.otherwise_rejected,
            Err(_) => &mut self.failed,
        };
        *counter += 1;
    }

    /// All that ended.
    #[must_use]
    pub fn orders(&self) -> usize {
        self.confirmed + self.refunded + self.compensated() + self.rejected() + self.failed
    }

    /// All that were compensated.
    #[must_use]
    pub fn compensated(&self) -> usize {
        self.out_of_stock + self.declined + self.given_up
    }

    /// All that were rejected.
    #[must_use]
    pub fn rejected(&self) -> usize {
        self.stock_corrections + self.otherwise_rejected
    }
}

/// The text at the end.
#[derive(Debug)]
pub struct Summary<'a> {
    /// How the orders ended.
    pub counts: Counts,
    /// What the world outside was asked, in all runs.
    pub requests: requests::Counts,
    /// Steps finished in this run.
    pub steps: u64,
    /// How long this run took.
    pub took: Duration,
    /// What does not agree.
    pub mismatches: &'a [Mismatch],
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            counts, requests, ..
        } = self;
        writeln!(f, "{} orders", count(counts.orders()))?;
        writeln!(
            f,
            "  {:>5} confirmed    {} charged",
            count(counts.confirmed),
            pounds(counts.charged)
        )?;
        writeln!(
            f,
            "  {:>5} compensated  {} out of stock, {} declined, {} given up after the last attempt",
            count(counts.compensated()),
            counts.out_of_stock,
            counts.declined,
            counts.given_up
        )?;
        writeln!(
            f,
            "  {:>5} refunded     {} paid back",
            count(counts.refunded),
            pounds(counts.paid_back)
        )?;
        writeln!(
            f,
            "  {:>5} rejected     {} corrections of the stock, {} for another reason",
            count(counts.rejected()),
            counts.stock_corrections,
            counts.otherwise_rejected
        )?;
        if counts.failed > 0 {
            writeln!(f, "  {:>5} failed", count(counts.failed))?;
        }
        writeln!(
            f,
            "outside: {} commands in {} attempts; {} charges refused by the gateway as duplicates",
            count(requests.commands),
            count(requests.attempts),
            count(requests.duplicate_charges)
        )?;
        let seconds = self.took.as_secs_f64();
        if self.steps == 0 {
            writeln!(f, "this run: nothing was left to do, {seconds:.1} s")?;
        } else {
            let per_second = |number: f64| count((number / seconds).round() as u64);
            writeln!(
                f,
                "this run: {} steps in {seconds:.1} s, {} executions/s, {} steps/s",
                count(self.steps),
                per_second(counts.orders() as f64),
                per_second(self.steps as f64)
            )?;
        }
        for mismatch in self.mismatches {
            writeln!(f, "{mismatch}")?;
        }
        let verdict = match self.mismatches.len() {
            0 => "ok".to_owned(),
            1 => "MISMATCH, 1 line above".to_owned(),
            number => format!("MISMATCH, {number} lines above"),
        };
        writeln!(
            f,
            "ledger: {verdict}, {} confirmed and charged once, {} compensated, {} refunded once, {} rejected, {}",
            count(counts.confirmed),
            count(counts.compensated()),
            count(counts.refunded),
            count(counts.rejected()),
            pounds(counts.charged)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_says_whether_the_ledger_agrees() {
        let mut counts = Counts::default();
        counts.add(&Ok(Outcome::Confirmed {
            amount: Decimal::new(123_450, 2),
        }));
        counts.add(&Ok(Outcome::Compensated {
            reason: Setback::Declined {
                reason: "no".into(),
            },
        }));
        counts.add(&Ok(Outcome::Rejected {
            reason: Rejection::NothingPaid,
        }));
        let text = |mismatches: &[Mismatch]| {
            let (requests, took) = (requests::Counts::default(), Duration::from_secs(2));
            let summary = Summary {
                counts,
                requests,
                steps: 10,
                took,
                mismatches,
            };
            summary.to_string()
        };
        let good = text(&[]);
        assert!(
            good.starts_with("3 orders\n      1 confirmed    GBP 1,234.50 charged\n"),
            "{good}"
        );
        assert!(
            good.contains("this run: 10 steps in 2.0 s, 2 executions/s, 5 steps/s"),
            "{good}"
        );
        assert_eq!(
            good.lines().last(),
            Some(
                "ledger: ok, 1 confirmed and charged once, 1 compensated, 0 refunded once, 1 rejected, GBP 1,234.50"
            )
        );
        let bad = text(&[Mismatch {
            invoice: "1".into(),
            problem: "odd".into(),
        }]);
        let lines: Vec<_> = bad.lines().rev().take(2).collect();
        assert!(
            lines[0].starts_with("ledger: MISMATCH, 1 line above, "),
            "{bad}"
        );
        assert_eq!(lines[1], "invoice 1: odd");
    }
}
