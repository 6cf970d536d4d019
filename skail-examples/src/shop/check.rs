//! What an invoice comes to: something to charge, something to refund, or nothing that can be done.
//!
//! Owns the rules of the business, as one pure function. A bad invoice is a result here, never an
//! error: it is what happened, and it is recorded as such.
//!
//! # The rules
//! 1. An invoice whose number begins with `C` takes back an earlier sale: what its lines come to is refunded. One that
//!    sells something (a positive quantity), or that comes to nothing, is rejected.
//! 2. On any other invoice a quantity of 0 or less is a correction of the stock, not a sale: rejected.
//! 3. A negative price is rejected, everywhere.
//! 4. A price of 0 is a gift when another line is paid: the article is taken from the shelf, and nothing is
//!    charged for it. When nothing is paid, there is nothing to charge: rejected.
//! 5. Postage, fees and manual lines are charged (or refunded) with the rest, but lie on no shelf.
//! 6. Money is rounded to pence once, on the sum, half a penny away from zero.

use std::collections::BTreeMap;

use rust_decimal::{Decimal, RoundingStrategy};
use serde::{Deserialize, Serialize};

use super::orders::{Invoice, Line};

/// What an invoice comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Checked {
    /// A sale.
    Chargeable {
        /// What the customer pays.
        amount: Decimal,
        /// What is taken from the shelves: article and pieces, in the order of the codes, each
        /// article once.
        articles: Vec<(String, i64)>,
    },
    /// A cancellation.
    Refund {
        /// What the customer gets back.
        amount: Decimal,
    },
    /// Nothing that can be done.
    Rejected {
        /// Why.
        reason: Rejection,
    },
}

/// Why an invoice was rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    /// A quantity of 0 or less on a sale.
    #[error("{quantity} of {stock_code} is a correction of the stock, not a sale")]
    StockCorrection {
        /// The line's article.
        stock_code: String,
        /// The line's quantity.
        quantity: i64,
    },
    /// A positive quantity on a cancellation.
    #[error("a cancellation cannot sell {quantity} of {stock_code}")]
    SaleInCancellation {
        /// The line's article.
        stock_code: String,
        /// The line's quantity.
        quantity: i64,
    },
    /// A price below 0.
    #[error("the price of {stock_code} is negative: {unit_price}")]
    NegativePrice {
        /// The line's article.
        stock_code: String,
        /// The line's price.
        unit_price: Decimal,
    },
    /// Every line is free.
    #[error("nothing is paid for")]
    NothingPaid,
    /// Larger than an amount can be.
    #[error("the quantities or the amount are beyond counting")]
    BeyondCounting,
}

/// Says what an invoice comes to.
#[must_use]
pub fn check(invoice: &Invoice) -> Checked {
    let result = if invoice.is_cancellation() {
        refund(&invoice.lines)
    } else {
        sale(&invoice.lines)
    };
    result.unwrap_or_else(|reason| Checked::Rejected { reason })
}

fn refund(lines: &[Line]) -> Result<Checked, Rejection> {
    if let Some(Line {
        stock_code,
        quantity,
        ..
    }) = lines.iter().find(|line| line.quantity > 0)
    {
        return Err(Rejection::SaleInCancellation {
            stock_code: stock_code.clone(),
            quantity: *quantity,
        });
    }
    Ok(Checked::Refund {
        amount: total(lines)?,
    })
}

fn sale(lines: &[Line]) -> Result<Checked, Rejection> {
    if let Some(Line {
        stock_code,
        quantity,
        ..
    }) = lines.iter().find(|line| line.quantity <= 0)
    {
        return Err(Rejection::StockCorrection {
            stock_code: stock_code.clone(),
            quantity: *quantity,
        });
    }
    let amount = total(lines)?;
    let mut articles: BTreeMap<String, i64> = BTreeMap::new();
    for line in lines {
        if let Some(article) = line.article() {
            let pieces = articles.entry(article).or_default();
            *pieces = pieces
                .checked_add(line.quantity)
                .ok_or(Rejection::BeyondCounting)?;
        }
    }
    Ok(Checked::Chargeable {
        amount,
        articles: articles.into_iter().collect(),
    })
}

/// What the lines come to, without sign, in pence.
fn total(lines: &[Line]) -> Result<Decimal, Rejection> {
    let mut sum = Decimal::ZERO;
    for line in lines {
        if line.unit_price < Decimal::ZERO {
            let (stock_code, unit_price) = (line.stock_code.clone(), line.unit_price);
            return Err(Rejection::NegativePrice {
                stock_code,
                unit_price,
            });
        }
        sum = Decimal::from(line.quantity)
            .checked_mul(line.unit_price)
            .and_then(|price| sum.checked_add(price))
            .ok_or(Rejection::BeyondCounting)?;
    }
    let amount = sum
        .abs()
        .round_dp_with_strategy(2, RoundingStrategy::MidpointAwayFromZero);
    if amount.is_zero() {
        Err(Rejection::NothingPaid)
    } else {
        Ok(amount)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::shop::read::parse;

    fn checked(id: &str, lines: &[(&str, i64, &str)]) -> Checked {
        let lines = lines
            .iter()
            .map(|&(code, quantity, price)| Line {
                stock_code: code.into(),
                quantity,
                unit_price: price.parse().expect("a price"),
            })
            .collect();
        check(&Invoice {
            id: id.into(),
            country: "UK".into(),
            invoiced_at: "d".into(),
            lines,
        })
    }

    fn rejection(id: &str, lines: &[(&str, i64, &str)]) -> String {
        match checked(id, lines) {
            Checked::Rejected { reason } => reason.to_string(),
            other => panic!("not rejected: {other:?}"),
        }
    }

    #[test]
    fn a_sale_is_charged_and_its_articles_are_summed_and_sorted() {
        let result = checked(
            "1",
            &[
                ("90000a", 2, "1.50"),
                ("POST", 1, "18"),
                ("10000", 1, "0"),
                ("90000A", 3, "1.25"),
            ],
        );
        let articles = vec![("10000".to_owned(), 1), ("90000A".to_owned(), 5)];
        assert_eq!(
            result,
            Checked::Chargeable {
                amount: Decimal::new(2475, 2),
                articles
            }
        );
    }

    #[test]
    fn money_is_rounded_once_on_the_sum() {
        let Checked::Chargeable { amount, .. } =
            checked("1", &[("10000", 1, "0.004"), ("10001", 1, "0.001")])
        else {
            panic!("a sale")
        };
        assert_eq!(amount, Decimal::new(1, 2));
    }

    #[test]
    fn a_cancellation_is_refunded() {
        let result = checked("C1", &[("10000", -2, "1.50"), ("D", -1, "27.5")]);
        assert_eq!(
            result,
            Checked::Refund {
                amount: Decimal::new(3050, 2)
            }
        );
    }

    #[test]
    fn bad_invoices_are_results_with_a_reason() {
        assert_eq!(
            rejection("1", &[("10000", -3, "0")]),
            "-3 of 10000 is a correction of the stock, not a sale"
        );
        assert_eq!(
            rejection("1", &[("10000", 0, "1")]),
            "0 of 10000 is a correction of the stock, not a sale"
        );
        assert_eq!(rejection("1", &[("10000", 5, "0")]), "nothing is paid for");
        assert_eq!(
            rejection("1", &[("B", 1, "-11062.06")]),
            "the price of B is negative: -11062.06"
        );
        assert_eq!(
            rejection("C1", &[("10000", 1, "2")]),
            "a cancellation cannot sell 1 of 10000"
        );
        assert_eq!(
            rejection("C1", &[("10000", -1, "0")]),
            "nothing is paid for"
        );
    }

    #[test]
    fn what_is_beyond_counting_is_rejected_too() {
        let large = "79228162514264337593543950335";
        assert_eq!(
            rejection("1", &[("10000", 2, large)]),
            Rejection::BeyondCounting.to_string()
        );
        let lines = [("10000", i64::MAX, "0.01"), ("10000", i64::MAX, "0.01")];
        assert_eq!(
            rejection("1", &lines),
            Rejection::BeyondCounting.to_string()
        );
    }

    #[test]
    fn the_bundled_file_is_judged_as_known() {
        let bytes = include_bytes!("../../data/online-retail-2010-12.csv");
        let invoices = parse(Path::new("bundled"), bytes).expect("good");
        let (mut sales, mut refunds, mut rejected) = (0, 0, 0);
        for invoice in &invoices {
            match check(invoice) {
                Checked::Chargeable { .. } => sales += 1,
                Checked::Refund { .. } => refunds += 1,
                Checked::Rejected { .. } => rejected += 1,
            }
        }
        assert_eq!((sales, refunds, rejected), (562, 70, 66));
    }
}
