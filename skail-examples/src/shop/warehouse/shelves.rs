//! What the warehouse's log amounts to: the shelves and the orders.
//!
//! Owns the one function that carries out an entry, for entries made now and for those read back.
//! It must never refuse one: what may be done was decided before the entry was written.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::json_lines::Ticket;

/// How things stand for one invoice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Standing {
    /// Articles set aside or shipped.
    pub held: usize,
    /// Whether they were shipped.
    pub shipped: bool,
}

/// One line of the log: what was done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Entry {
    Reserved {
        invoice: String,
        article: String,
        quantity: i64,
    },
    Released {
        invoice: String,
        article: String,
    },
    Shipped {
        invoice: String,
    },
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) shelves: HashMap<String, i64>,
    pub(super) orders: BTreeMap<String, Order>,
}

#[derive(Debug, Default)]
pub(super) struct Order {
    pub(super) articles: BTreeMap<String, Article>,
    pub(super) shipped: Option<Ticket>,
}

#[derive(Debug)]
pub(super) struct Article {
    pub(super) quantity: i64,
    pub(super) held: bool,
    /// The entry that brought it where it is; a repeated call is answered when that is on disk.
    pub(super) since: Ticket,
}

impl State {
    pub(super) fn new(shelves: HashMap<String, i64>) -> Self {
        Self {
            shelves,
            orders: BTreeMap::new(),
        }
    }

    pub(super) fn standing(&self) -> BTreeMap<String, Standing> {
        let standing = |order: &Order| Standing {
            held: order
                .articles
                .values()
                .filter(|article| article.held)
                .count(),
            shipped: order.shipped.is_some(),
        };
        self.orders
            .iter()
            .map(|(invoice, order)| (invoice.clone(), standing(order)))
            .collect()
    }

    /// `since` is the entry's place in the log.
    pub(super) fn apply(&mut self, entry: Entry, since: Ticket) {
        match entry {
            Entry::Reserved {
                invoice,
                article,
                quantity,
            } => {
                *self.shelves.entry(article.clone()).or_default() -= quantity;
                let articles = &mut self.orders.entry(invoice).or_default().articles;
                articles.insert(
                    article,
                    Article {
                        quantity,
                        held: true,
                        since,
                    },
                );
            }
            Entry::Released { invoice, article } => {
                if let Some(known) = self
                    .orders
                    .entry(invoice)
                    .or_default()
                    .articles
                    .get_mut(&article)
                {
                    *self.shelves.entry(article).or_default() += known.quantity;
                    (known.held, known.since) = (false, since);
                }
            }
            Entry::Shipped { invoice } => {
                self.orders.entry(invoice).or_default().shipped = Some(since);
            }
        }
    }
}
