//! How an order can end.
//!
//! Owns the words for it. Every one of them is a result: an order that could not be served is not
//! an error.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::shop::check::Rejection;

/// How an order ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Charged and shipped.
    Confirmed {
        /// What the customer paid.
        amount: Decimal,
    },
    /// Nothing charged in the end, nothing set aside in the end.
    Compensated {
        /// Why.
        reason: Setback,
    },
    /// A cancellation, paid back.
    Refunded {
        /// What the customer got.
        amount: Decimal,
    },
    /// Nothing that could be done with it.
    Rejected {
        /// Why.
        reason: Rejection,
    },
}

/// Why an order had to be compensated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Setback {
    /// An article ran short.
    OutOfStock {
        /// The first one of the order that did.
        article: String,
    },
    /// The warehouse failed in every attempt.
    WarehouseFailed {
        /// The last attempt's error.
        error: String,
    },
    /// The gateway did not want to charge.
    Declined {
        /// Why.
        reason: String,
    },
    /// The gateway failed in every attempt; whatever it had charged was paid back.
    GatewayFailed {
        /// The last attempt's error.
        error: String,
    },
}
