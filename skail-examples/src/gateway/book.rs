//! The gateway's book: every decision it made, on disk, and the idempotency table that follows from
//! it.
//!
//! Owns what is charged and what is not. A decision must never be told before it is on disk, and a
//! key must never be decided twice.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rust_decimal::Decimal;

use super::{Answer, CARD_LIMIT, Entry, Operation, Payment, Reply};
use crate::json_lines::{DurableLog, LogError, Ticket};

/// Why a request was not decided.
#[derive(Debug, thiserror::Error)]
pub(super) enum BookError {
    #[error("the key was used before, to {} {} for invoice {}; use another key for another request", earlier.operation.word(), earlier.payment.amount, earlier.payment.invoice)]
    KeyReused { earlier: Box<Entry> },
    #[error("{0} is no amount that can be paid; name a positive one")]
    BadAmount(Decimal),
    #[error(transparent)]
    Log(#[from] LogError),
}

#[derive(Debug)]
pub(super) struct Book {
    log: DurableLog,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: Vec<Entry>,
    /// Where in `entries` a key was decided, and when that is on disk.
    keys: HashMap<String, (usize, Ticket)>,
    charged: BTreeMap<String, Decimal>,
    voided: HashSet<String>,
}

impl Book {
    pub(super) fn open(path: &Path) -> Result<Self, LogError> {
        let (log, old) = DurableLog::open(path)?;
        let mut state = State::default();
        old.into_iter()
            .for_each(|entry| state.apply(entry, Ticket::OLD));
        Ok(Self {
            log,
            state: Mutex::new(state),
        })
    }

    pub(super) fn knows(&self, key: &str) -> bool {
        self.state().keys.contains_key(key)
    }

    pub(super) fn entries(&self) -> Vec<Entry> {
        self.state().entries.clone()
    }

    /// Decides a request, or repeats what was decided for its key; returns when that is on disk.
    pub(super) async fn decide(
        &self,
        key: &str,
        operation: Operation,
        payment: Payment,
    ) -> Result<Reply, BookError> {
        let (reply, ticket) = {
            let mut state = self.state();
            match state
                .keys
                .get(key)
                .map(|&(at, ticket)| (&state.entries[at], ticket))
            {
                Some((earlier, ticket))
                    if earlier.operation == operation && earlier.payment == payment =>
                {
                    (
                        Reply {
                            answer: earlier.answer.clone(),
                            duplicate: true,
                        },
                        ticket,
                    )
                }
                Some((earlier, _)) => {
                    return Err(BookError::KeyReused {
                        earlier: Box::new(earlier.clone()),
                    });
                }
                None => {
                    let answer = state.answer(operation, &payment)?;
                    let entry = Entry {
                        key: key.to_owned(),
                        operation,
                        payment,
                        answer: answer.clone(),
                    };
                    // Under the lock, so that the file has the order of the decisions.
                    let ticket = self.log.append(&entry)?;
                    state.apply(entry, ticket);
                    (
                        Reply {
                            answer,
                            duplicate: false,
                        },
                        ticket,
                    )
                }
            }
        };
        self.log.durable(ticket).await?;
        Ok(reply)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn answer(&self, operation: Operation, payment: &Payment) -> Result<Answer, BookError> {
        if payment.amount <= Decimal::ZERO {
            return Err(BookError::BadAmount(payment.amount));
        }
        let declined = |reason: &str| Answer::Declined {
            reason: reason.to_owned(),
        };
        Ok(match operation {
            Operation::Charge if self.voided.contains(&payment.invoice) => {
                declined("the invoice was voided")
            }
            Operation::Charge if payment.amount > CARD_LIMIT => declined("over the card's limit"),
            Operation::Charge => Answer::Approved,
            Operation::Refund => Answer::Refunded,
            Operation::Void => Answer::Voided {
                returned: self
                    .charged
                    .get(&payment.invoice)
                    .copied()
                    .unwrap_or_default(),
            },
        })
    }

    fn apply(&mut self, entry: Entry, ticket: Ticket) {
        let invoice = &entry.payment.invoice;
        match &entry.answer {
            Answer::Approved => {
                *self.charged.entry(invoice.clone()).or_default() += entry.payment.amount
            }
            Answer::Voided { .. } => {
                self.charged.remove(invoice);
                self.voided.insert(invoice.clone());
            }
            Answer::Declined { .. } | Answer::Refunded => {}
        }
        self.keys
            .insert(entry.key.clone(), (self.entries.len(), ticket));
        self.entries.push(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payment(invoice: &str, amount: i64) -> Payment {
        Payment {
            invoice: invoice.into(),
            amount: amount.into(),
        }
    }

    #[tokio::test]
    async fn a_key_is_decided_once_also_after_a_restart() {
        let directory = tempfile::tempdir().expect("a directory");
        for run in 0..2 {
            let book = Book::open(&directory.path().join("ledger")).expect("opens");
            let reply = book
                .decide("k", Operation::Charge, payment("1", 10))
                .await
                .expect("decided");
            assert_eq!(
                reply,
                Reply {
                    answer: Answer::Approved,
                    duplicate: run > 0
                }
            );
            let reply = book
                .decide("k", Operation::Charge, payment("1", 10))
                .await
                .expect("decided");
            assert_eq!(
                reply,
                Reply {
                    answer: Answer::Approved,
                    duplicate: true
                }
            );
            assert_eq!(book.entries().len(), 1);
        }
    }

    #[tokio::test]
    async fn a_key_cannot_be_used_for_another_request() {
        let directory = tempfile::tempdir().expect("a directory");
        let book = Book::open(&directory.path().join("ledger")).expect("opens");
        book.decide("k", Operation::Charge, payment("1", 10))
            .await
            .expect("decided");
        for (operation, payment) in [
            (Operation::Refund, payment("1", 10)),
            (Operation::Charge, payment("2", 10)),
            (Operation::Charge, payment("1", 11)),
        ] {
            let error = book
                .decide("k", operation, payment)
                .await
                .expect_err("used")
                .to_string();
            assert!(
                error.starts_with("the key was used before, to charge 10 for invoice 1"),
                "{error}"
            );
        }
        assert_eq!(book.entries().len(), 1);
    }

    #[tokio::test]
    async fn large_charges_and_voided_invoices_are_declined() {
        let directory = tempfile::tempdir().expect("a directory");
        let book = Book::open(&directory.path().join("ledger")).expect("opens");
        let decide = async |key, operation, invoice, amount| {
            book.decide(key, operation, payment(invoice, amount))
                .await
                .expect("decided")
                .answer
        };
        assert_eq!(
            decide("a", Operation::Charge, "1", 2_000).await,
            Answer::Approved
        );
        assert!(matches!(
            decide("b", Operation::Charge, "2", 2_001).await,
            Answer::Declined { .. }
        ));
        assert_eq!(
            decide("c", Operation::Void, "1", 1).await,
            Answer::Voided {
                returned: 2_000.into()
            }
        );
        assert!(matches!(
            decide("d", Operation::Charge, "1", 1).await,
            Answer::Declined { .. }
        ));
        assert_eq!(
            decide("e", Operation::Void, "3", 1).await,
            Answer::Voided { returned: 0.into() }
        );
        book.decide("f", Operation::Charge, payment("4", 0))
            .await
            .expect_err("no amount");
    }
}
