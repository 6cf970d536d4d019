//! Does the world outside agree with the outcomes? Every penny in the gateway's ledger and every
//! article in the warehouse must be explained by how an order ended.
//!
//! Owns that comparison, as a pure function. It must take nothing from Skail but the outcomes: a
//! fault in the engine has to show here.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use rust_decimal::Decimal;

use super::figures::pounds;
use super::outcome::Outcome;
use crate::gateway::{Answer, Entry, Operation};
use crate::shop::warehouse::Standing;

/// How every order ended, by invoice; `Err` holds why one has no outcome.
pub type Outcomes = BTreeMap<String, Result<Outcome, String>>;

/// One thing that does not agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The invoice.
    pub invoice: String,
    /// What is wrong.
    pub problem: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invoice {}: {}", self.invoice, self.problem)
    }
}

/// What the gateway did for one invoice.
#[derive(Debug, Default)]
struct Money {
    charged: Vec<Decimal>,
    refunded: Vec<Decimal>,
    returned: Decimal,
}

/// Compares; nothing is wrong if the list is empty.
///
/// | the order ended as | gateway | warehouse |
/// | --- | --- | --- |
/// | confirmed | charged once, the right amount, nothing given back | shipped |
/// | compensated | not charged, or charged once and all of it given back | nothing held, nothing shipped |
/// | refunded | refunded once, the right amount, not charged | nothing |
/// | rejected, or not known at all | nothing | nothing |
#[must_use]
pub fn audit(
    outcomes: &Outcomes,
    ledger: &[Entry],
    warehouse: &BTreeMap<String, Standing>,
) -> Vec<Mismatch> {
    let money = sum_up(ledger);
    let invoices: BTreeSet<&String> = outcomes
        .keys()
        .chain(money.keys())
        .chain(warehouse.keys())
        .collect();
    let (no_money, nothing_held) = (Money::default(), Standing::default());
    let mut mismatches = Vec::new();
    for invoice in invoices {
        let money = money.get(invoice).unwrap_or(&no_money);
        let goods = warehouse.get(invoice).unwrap_or(&nothing_held);
        let problems = match outcomes.get(invoice) {
            Some(Ok(outcome)) => [wrong_money(outcome, money), wrong_goods(outcome, goods)],
            Some(Err(error)) => [Some(format!("has no outcome: {error}")), None],
            None => [money.unless_none(), unless_nothing(goods)],
        };
        mismatches.extend(problems.into_iter().flatten().map(|problem| Mismatch {
            invoice: invoice.clone(),
            problem,
        }));
    }
    mismatches
}

fn sum_up(ledger: &[Entry]) -> BTreeMap<String, Money> {
    let mut invoices: BTreeMap<String, Money> = BTreeMap::new();
    for Entry {
        operation,
        payment,
        answer,
        ..
    } in ledger
    {
        let money = invoices.entry(payment.invoice.clone()).or_default();
        match (operation, answer) {
            (Operation::Charge, Answer::Approved) => money.charged.push(payment.amount),
            (Operation::Refund, Answer::Refunded) => money.refunded.push(payment.amount),
            (_, Answer::Voided { returned }) => money.returned += returned,
            (_, Answer::Approved | Answer::Declined { .. } | Answer::Refunded) => {}
        }
    }
    invoices
}

fn wrong_money(outcome: &Outcome, money: &Money) -> Option<String> {
    match outcome {
        Outcome::Confirmed { amount } => {
            let right =
                money.charged == [*amount] && money.refunded.is_empty() && money.returned.is_zero();
            (!right).then(|| format!("confirmed for {}, but {money}", pounds(*amount)))
        }
        Outcome::Compensated { .. } => {
            let charged: Decimal = money.charged.iter().sum();
            let right =
                money.charged.len() <= 1 && money.refunded.is_empty() && money.returned == charged;
            (!right).then(|| format!("compensated, but {money}"))
        }
        Outcome::Refunded { amount } => {
            let right =
                money.refunded == [*amount] && money.charged.is_empty() && money.returned.is_zero();
            (!right).then(|| format!("to be refunded {}, but {money}", pounds(*amount)))
        }
        Outcome::Rejected { .. } => money
            .unless_none()
            .map(|problem| format!("rejected, but {problem}")),
    }
}

fn wrong_goods(outcome: &Outcome, goods: &Standing) -> Option<String> {
    match outcome {
        Outcome::Confirmed { .. } => {
            (!goods.shipped).then(|| "confirmed, but not shipped".to_owned())
        }
        Outcome::Compensated { .. } | Outcome::Refunded { .. } | Outcome::Rejected { .. } => {
            unless_nothing(goods)
        }
    }
}

fn unless_nothing(goods: &Standing) -> Option<String> {
    match goods {
        Standing { shipped: true, .. } => Some("shipped without having been confirmed".to_owned()),
        Standing { held: 0, .. } => None,
        Standing { held, .. } => Some(format!("{held} articles are still set aside for it")),
    }
}

impl Money {
    fn unless_none(&self) -> Option<String> {
        let none = self.charged.is_empty() && self.refunded.is_empty() && self.returned.is_zero();
        (!none).then(|| self.to_string())
    }
}

/// "charged GBP 1.00 + GBP 1.00, refunded nothing, given back nothing".
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |amounts: &[Decimal]| {
            let parts: Vec<_> = amounts.iter().copied().map(pounds).collect();
            if parts.is_empty() {
                "nothing".to_owned()
            } else {
                parts.join(" + ")
            }
        };
        let returned = if self.returned.is_zero() {
            vec![]
        } else {
            vec![self.returned]
        };
        write!(
            f,
            "the gateway charged {}, refunded {}, gave back {}",
            list(&self.charged),
            list(&self.refunded),
            list(&returned)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::outcome::Setback;
    use super::*;
    use crate::gateway::Payment;
    use crate::shop::check::Rejection;

    fn entry(operation: Operation, amount: i64, answer: Answer) -> Entry {
        Entry {
            key: "k".into(),
            operation,
            payment: Payment {
                invoice: "1".into(),
                amount: amount.into(),
            },
            answer,
        }
    }

    fn charge(amount: i64) -> Entry {
        entry(Operation::Charge, amount, Answer::Approved)
    }

    fn refund(amount: i64) -> Entry {
        entry(Operation::Refund, amount, Answer::Refunded)
    }

    fn void(returned: i64) -> Entry {
        entry(
            Operation::Void,
            5,
            Answer::Voided {
                returned: returned.into(),
            },
        )
    }

    fn declined() -> Entry {
        entry(
            Operation::Charge,
            5,
            Answer::Declined {
                reason: "no".into(),
            },
        )
    }

    fn problems(
        outcome: Option<Outcome>,
        ledger: &[Entry],
        held: usize,
        shipped: bool,
    ) -> Vec<String> {
        let outcomes = outcome
            .into_iter()
            .map(|outcome| ("1".to_owned(), Ok(outcome)))
            .collect();
        let warehouse = BTreeMap::from([("1".to_owned(), Standing { held, shipped })]);
        audit(&outcomes, ledger, &warehouse)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    fn confirmed() -> Option<Outcome> {
        Some(Outcome::Confirmed { amount: 5.into() })
    }

    fn compensated() -> Option<Outcome> {
        Some(Outcome::Compensated {
            reason: Setback::OutOfStock {
                article: "A".into(),
            },
        })
    }

    fn refunded() -> Option<Outcome> {
        Some(Outcome::Refunded { amount: 5.into() })
    }

    fn rejected() -> Option<Outcome> {
        Some(Outcome::Rejected {
            reason: Rejection::NothingPaid,
        })
    }

    #[test]
    fn what_agrees_is_not_listed() {
        for (outcome, ledger, held, shipped) in [
            (confirmed(), vec![charge(5)], 2, true),
            (confirmed(), vec![charge(5)], 0, true),
            (compensated(), vec![], 0, false),
            (compensated(), vec![declined()], 0, false),
            (compensated(), vec![charge(5), void(5)], 0, false),
            (compensated(), vec![void(0), declined()], 0, false),
            (refunded(), vec![refund(5)], 0, false),
            (rejected(), vec![], 0, false),
            (None, vec![], 0, false),
        ] {
            assert_eq!(
                problems(outcome.clone(), &ledger, held, shipped),
                [""; 0],
                "{outcome:?} {ledger:?}"
            );
        }
    }

    #[test]
    fn every_way_not_to_agree_is_listed() {
        for (outcome, ledger, held, shipped) in [
            (confirmed(), vec![], 2, true),
            (confirmed(), vec![declined()], 2, true),
            (confirmed(), vec![charge(6)], 2, true),
            (confirmed(), vec![charge(5), charge(5)], 2, true),
            (confirmed(), vec![charge(5), refund(5)], 2, true),
            (confirmed(), vec![charge(5), void(5)], 2, true),
            (confirmed(), vec![charge(5)], 2, false),
            (compensated(), vec![charge(5)], 0, false),
            (
                compensated(),
                vec![charge(5), charge(5), void(10)],
                0,
                false,
            ),
            (compensated(), vec![], 1, false),
            (compensated(), vec![], 1, true),
            (refunded(), vec![], 0, false),
            (refunded(), vec![refund(5), refund(5)], 0, false),
            (refunded(), vec![refund(4)], 0, false),
            (refunded(), vec![refund(5), charge(5)], 0, false),
            (rejected(), vec![charge(5)], 0, false),
            (rejected(), vec![], 1, false),
            (None, vec![charge(5)], 0, false),
            (None, vec![refund(5)], 0, false),
            (None, vec![], 1, false),
        ] {
            assert_eq!(
                problems(outcome.clone(), &ledger, held, shipped).len(),
                1,
                "{outcome:?} {ledger:?}"
            );
        }
    }

    #[test]
    fn a_mismatch_names_invoice_and_sums() {
        assert_eq!(
            problems(confirmed(), &[charge(5), charge(5)], 1, true),
            [
                "invoice 1: confirmed for GBP 5.00, but the gateway charged GBP 5.00 + GBP 5.00, refunded nothing, gave back nothing"
            ]
        );
        let outcomes = Outcomes::from([("1".to_owned(), Err("it broke".to_owned()))]);
        assert_eq!(
            audit(&outcomes, &[], &BTreeMap::new())[0].to_string(),
            "invoice 1: has no outcome: it broke"
        );
    }
}
