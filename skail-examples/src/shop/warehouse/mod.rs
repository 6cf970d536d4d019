//! The warehouse: what lies on the shelves, and what is set aside for which invoice.
//!
//! Owns the stock on disk. It is the user's own database: every call may come twice, because the
//! process may die between the effect and its record, and the second one changes nothing. It must
//! never set aside more than there is.

mod shelves;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use skail_runtime::{Advice, RetryAdvice};

use crate::json_lines::{DurableLog, LogError, Ticket};
use crate::requests::{Caller, Request, RequestLog};

use shelves::{Entry, State};

pub use shelves::Standing;

/// The answer to a reservation. Both are business outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reservation {
    /// Set aside.
    Reserved,
    /// Fewer left than asked for; nothing was set aside.
    OutOfStock,
}

/// Why the warehouse could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum WarehouseError {
    /// Its log cannot be written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The call contradicts an earlier one for the same invoice and article.
    #[error("invoice {invoice}: cannot {wanted}, since {earlier}")]
    Contradiction {
        /// The invoice.
        invoice: String,
        /// What was asked for.
        wanted: String,
        /// What was done before.
        earlier: String,
    },
}

impl RetryAdvice for WarehouseError {
    /// What contradicts the past will always do so.
    fn advice(&self) -> Advice {
        match self {
            Self::Log(_) => Advice::Usual,
            Self::Contradiction { .. } => Advice::Permanent,
        }
    }
}

/// The warehouse; clones are the same one.
#[derive(Debug, Clone)]
pub struct Warehouse(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    log: DurableLog,
    requests: Arc<RequestLog>,
    state: Mutex<State>,
}

impl Warehouse {
    /// Opens the warehouse. `shelves` is what it held before the first order.
    ///
    /// # Errors
    /// The log cannot be opened.
    pub fn open(
        path: &Path,
        shelves: HashMap<String, i64>,
        requests: Arc<RequestLog>,
    ) -> Result<Self, LogError> {
        let (log, old) = DurableLog::open::<Entry>(path)?;
        let mut state = State::new(shelves);
        old.into_iter()
            .for_each(|entry| state.apply(entry, Ticket::OLD));
        Ok(Self(Arc::new(Inner {
            log,
            requests,
            state: Mutex::new(state),
        })))
    }

    /// Sets an article aside for an invoice. Asked again, it is the same reservation.
    ///
    /// # Errors
    /// [`WarehouseError`].
    pub async fn reserve(
        &self,
        caller: Caller,
        invoice: &str,
        article: &str,
        quantity: i64,
    ) -> Result<Reservation, WarehouseError> {
        self.record("reserve", invoice, caller)?;
        let reserved = {
            let mut state = self.state();
            match state
                .orders
                .get(invoice)
                .and_then(|order| order.articles.get(article))
            {
                Some(known) if known.held && known.quantity == quantity => Some(known.since),
                Some(known) => {
                    let earlier = format!(
                        "{} was {}",
                        known.quantity,
                        if known.held { "reserved" } else { "released" }
                    );
                    return Err(contradiction(
                        invoice,
                        format!("reserve {quantity} of {article}"),
                        earlier,
                    ));
                }
                None if state
                    .shelves
                    .get(article)
                    .is_none_or(|&left| left < quantity) =>
                {
                    None
                }
                None => {
                    let (invoice, article) = (invoice.to_owned(), article.to_owned());
                    Some(self.write(
                        &mut state,
                        Entry::Reserved {
                            invoice,
                            article,
                            quantity,
                        },
                    )?)
                }
            }
        };
        let Some(ticket) = reserved else {
            return Ok(Reservation::OutOfStock);
        };
        self.0.log.durable(ticket).await?;
        Ok(Reservation::Reserved)
    }

    /// Puts an article back on its shelf. Nothing happens if it was not set aside, or is back
    /// already.
    ///
    /// # Errors
    /// [`WarehouseError`].
    pub async fn release(
        &self,
        caller: Caller,
        invoice: &str,
        article: &str,
    ) -> Result<(), WarehouseError> {
        self.record("release", invoice, caller)?;
        let ticket = {
            let mut state = self.state();
            let order = state.orders.get(invoice);
            if order.is_some_and(|order| order.shipped.is_some()) {
                return Err(contradiction(
                    invoice,
                    format!("release {article}"),
                    "the invoice was shipped".into(),
                ));
            }
            match order.and_then(|order| order.articles.get(article)) {
                None => Ticket::OLD,
                Some(known) if !known.held => known.since,
                Some(_) => {
                    let (invoice, article) = (invoice.to_owned(), article.to_owned());
                    self.write(&mut state, Entry::Released { invoice, article })?
                }
            }
        };
        Ok(self.0.log.durable(ticket).await?)
    }

    /// Ships what is set aside for an invoice. Asked again, nothing more happens.
    ///
    /// # Errors
    /// [`WarehouseError`].
    pub async fn ship(&self, caller: Caller, invoice: &str) -> Result<(), WarehouseError> {
        self.record("ship", invoice, caller)?;
        let ticket = {
            let mut state = self.state();
            match state.orders.get(invoice).and_then(|order| order.shipped) {
                Some(ticket) => ticket,
                None => self.write(
                    &mut state,
                    Entry::Shipped {
                        invoice: invoice.to_owned(),
                    },
                )?,
            }
        };
        Ok(self.0.log.durable(ticket).await?)
    }

    /// How things stand for every invoice that asked for something.
    #[must_use]
    pub fn standing(&self) -> BTreeMap<String, Standing> {
        self.state().standing()
    }

    fn record(&self, operation: &str, invoice: &str, caller: Caller) -> Result<(), LogError> {
        self.0.requests.record(Request {
            operation: operation.to_owned(),
            invoice: invoice.to_owned(),
            key: caller.key,
            attempt: caller.attempt,
            fault: None,
            duplicate: false,
        })
    }

    /// Puts the entry in the log's line and applies it, under one lock, so that the log has the
    /// order of the effects.
    fn write(&self, state: &mut State, entry: Entry) -> Result<Ticket, LogError> {
        let ticket = self.0.log.append(&entry)?;
        state.apply(entry, ticket);
        Ok(ticket)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under this lock.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn contradiction(invoice: &str, wanted: String, earlier: String) -> WarehouseError {
    WarehouseError::Contradiction {
        invoice: invoice.to_owned(),
        wanted,
        earlier,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warehouse(directory: &Path) -> Warehouse {
        let requests = Arc::new(RequestLog::open(&directory.join("requests")).expect("opens"));
        let shelves = HashMap::from([("A".to_owned(), 5), ("B".to_owned(), 1)]);
        Warehouse::open(&directory.join("stock"), shelves, requests).expect("opens")
    }

    fn caller() -> Caller {
        Caller {
            key: "k".into(),
            attempt: 1,
        }
    }

    #[tokio::test]
    async fn a_repeated_call_changes_nothing_also_after_a_restart() {
        let directory = tempfile::tempdir().expect("a directory");
        for _ in 0..2 {
            let warehouse = warehouse(directory.path());
            for _ in 0..2 {
                let answer = warehouse
                    .reserve(caller(), "1", "A", 3)
                    .await
                    .expect("answered");
                assert_eq!(answer, Reservation::Reserved);
            }
            assert_eq!(
                warehouse
                    .reserve(caller(), "4", "A", 3)
                    .await
                    .expect("answered"),
                Reservation::OutOfStock
            );
            assert_eq!(
                warehouse
                    .reserve(caller(), "2", "A", 2)
                    .await
                    .expect("answered"),
                Reservation::Reserved
            );
        }
        for _ in 0..2 {
            let warehouse = warehouse(directory.path());
            for _ in 0..2 {
                warehouse
                    .release(caller(), "1", "A")
                    .await
                    .expect("released");
                warehouse
                    .release(caller(), "1", "never reserved")
                    .await
                    .expect("nothing to do");
                warehouse.ship(caller(), "2").await.expect("shipped");
            }
            assert_eq!(
                warehouse
                    .reserve(caller(), "3", "A", 4)
                    .await
                    .expect("answered"),
                Reservation::OutOfStock
            );
            let standing = warehouse.standing();
            assert_eq!(
                standing["1"],
                Standing {
                    held: 0,
                    shipped: false
                }
            );
            assert_eq!(
                standing["2"],
                Standing {
                    held: 1,
                    shipped: true
                }
            );
        }
        let warehouse = warehouse(directory.path());
        assert_eq!(
            warehouse
                .reserve(caller(), "3", "A", 3)
                .await
                .expect("answered"),
            Reservation::Reserved
        );
    }

    #[tokio::test]
    async fn what_was_never_on_a_shelf_is_out_of_stock() {
        let directory = tempfile::tempdir().expect("a directory");
        let answer = warehouse(directory.path())
            .reserve(caller(), "1", "C", 1)
            .await
            .expect("answered");
        assert_eq!(answer, Reservation::OutOfStock);
    }

    #[tokio::test]
    async fn a_contradiction_is_an_error() {
        let directory = tempfile::tempdir().expect("a directory");
        let warehouse = warehouse(directory.path());
        warehouse
            .reserve(caller(), "1", "A", 3)
            .await
            .expect("reserved");
        let error = warehouse
            .reserve(caller(), "1", "A", 2)
            .await
            .expect_err("another quantity");
        assert_eq!(
            error.to_string(),
            "invoice 1: cannot reserve 2 of A, since 3 was reserved"
        );
        warehouse.ship(caller(), "1").await.expect("shipped");
        warehouse
            .release(caller(), "1", "A")
            .await
            .expect_err("shipped");
    }
}
