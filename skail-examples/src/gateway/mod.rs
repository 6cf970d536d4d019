//! A payment gateway over HTTP, as one finds it at a payment provider: with idempotency keys, a
//! ledger on disk, and days on which it answers badly.
//!
//! It stands for the world outside: it runs in the example's process only so that the example needs
//! nothing else. It must never use Skail, and nobody reaches into it but over HTTP.
//!
//! | request | what it does |
//! | --- | --- |
//! | `POST /charges` | charges a customer, or declines |
//! | `POST /refunds` | pays back, for a cancellation |
//! | `POST /voids` | ends an invoice whose charge is in doubt: pays back what was charged, declines any later charge |
//! | `GET /ledger` | everything that it ever decided, in order |
//!
//! The three `POST`s take a [`Payment`] as JSON and need the header `Idempotency-Key`. Without it:
//! 400. The key again with the same request: the first answer again, marked as a duplicate. The key
//! again with another request: 422.
#![allow(
    clippy::disallowed_methods,
    reason = "the user's outside world runs on the real clock, not on the engine's"
)]

mod book;
mod client;
mod connection;
mod faults;
mod server;
#[cfg(test)]
mod tests;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

pub use client::{GatewayClient, GatewayError};
pub use faults::Level;
pub use server::{Gateway, StartError};

/// Charges above this are declined: the limit of the customers' cards, in pounds.
pub const CARD_LIMIT: Decimal = Decimal::from_parts(2_000, 0, 0, false, 0);

/// The header that names the attempt, for the gateway's request log.
const ATTEMPT_HEADER: &str = "x-attempt";
/// The header that names the request, so that a second one is known as the same.
const KEY_HEADER: &str = "idempotency-key";

/// What can be asked of the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Take money.
    Charge,
    /// Give money back for a cancellation.
    Refund,
    /// End an invoice whose charge is in doubt.
    Void,
}

/// The body of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payment {
    /// The invoice.
    pub invoice: String,
    /// The amount in pounds. A void names the amount that was to be charged.
    pub amount: Decimal,
}

/// What the gateway decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "status")]
pub enum Answer {
    /// Charged.
    Approved,
    /// Not charged: a business outcome.
    Declined {
        /// Why.
        reason: String,
    },
    /// Paid back.
    Refunded,
    /// Closed.
    Voided {
        /// What had been charged, and was paid back.
        returned: Decimal,
    },
}

/// The body of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// What was decided when the key was first used.
    #[serde(flatten)]
    pub answer: Answer,
    /// Whether that was an earlier request.
    pub duplicate: bool,
}

/// One decision in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The idempotency key.
    pub key: String,
    /// What was asked for.
    pub operation: Operation,
    /// For what.
    pub payment: Payment,
    /// What was decided.
    pub answer: Answer,
}

impl Operation {
    /// The path under which it is asked for.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Charge => "/charges",
            Self::Refund => "/refunds",
            Self::Void => "/voids",
        }
    }

    /// Its word in the request log.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Charge => "charge",
            Self::Refund => "refund",
            Self::Void => "void",
        }
    }
}
