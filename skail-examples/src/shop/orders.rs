//! What an order is: an invoice and its lines.
//!
//! Owns the words of the business and nothing that acts on them: reading is in
//! [`read`](super::read), judging in [`check`](super::check).

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// One invoice, with its lines in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invoice {
    /// The number; a leading `C` marks a cancellation.
    pub id: String,
    /// The customer's country.
    pub country: String,
    /// When it was written, as the file has it.
    pub invoiced_at: String,
    /// At least one line.
    pub lines: Vec<Line>,
}

/// One line of an invoice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The article, or a word such as `POST` for what lies on no shelf.
    pub stock_code: String,
    /// Pieces; negative where something came back or was written off.
    pub quantity: i64,
    /// The price of one piece in pounds.
    pub unit_price: Decimal,
}

impl Invoice {
    /// Whether this takes back an earlier sale.
    #[must_use]
    pub fn is_cancellation(&self) -> bool {
        self.id.starts_with('C')
    }
}

impl Line {
    /// The article's code as the shelves are labelled, or `None` for what lies on no shelf:
    /// postage, fees, discounts, vouchers.
    ///
    /// An article's code begins with five digits. The same article is written with small and
    /// capital letters (`85123a`, `85123A`), and lies on one shelf.
    #[must_use]
    pub fn article(&self) -> Option<String> {
        let digits = self
            .stock_code
            .chars()
            .take_while(char::is_ascii_digit)
            .count();
        (digits >= 5).then(|| self.stock_code.to_ascii_uppercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn article(code: &str) -> Option<String> {
        Line {
            stock_code: code.into(),
            quantity: 1,
            unit_price: Decimal::ONE,
        }
        .article()
    }

    #[test]
    fn an_article_begins_with_five_digits() {
        assert_eq!(article("71053").as_deref(), Some("71053"));
        for other in [
            "POST",
            "D",
            "M",
            "DOT",
            "BANK CHARGES",
            "AMAZONFEE",
            "S",
            "C2",
            "gift_0001_20",
            "",
        ] {
            assert_eq!(article(other), None, "{other}");
        }
    }

    #[test]
    fn small_and_capital_letters_are_one_article() {
        assert_eq!(article("85123a"), article("85123A"));
    }
}
