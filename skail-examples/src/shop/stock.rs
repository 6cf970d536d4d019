//! How much of each article the warehouse held before the first order.
//!
//! Owns one pure function from the orders to the shelves. The result must never make an order's
//! fate depend on which order comes first: then a run that was killed twenty times could not be
//! compared with one that was not.

use std::collections::{BTreeMap, HashMap};

use super::check::{Checked, check};
use super::orders::Invoice;

/// From how many orders on an article can run short.
const POPULAR: usize = 8;

/// Fills the shelves: enough of everything for everyone, except for popular articles of which one
/// order wants more than all others together. Of these there is enough for all the others,
/// whichever comes first, and never enough for that one.
#[must_use]
pub fn shelves(invoices: &[Invoice]) -> HashMap<String, i64> {
    let mut wanted: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for invoice in invoices {
        if let Checked::Chargeable { articles, .. } = check(invoice) {
            for (article, quantity) in articles {
                wanted.entry(article).or_default().push(quantity);
            }
        }
    }
    let stock = |quantities: &[i64]| {
        let total = quantities
            .iter()
            .fold(0_i64, |sum, &quantity| sum.saturating_add(quantity));
        let largest = quantities.iter().copied().max().unwrap_or_default();
        let others = total - largest;
        if quantities.len() >= POPULAR && largest > others {
            others
        } else {
            total
        }
    };
    wanted
        .into_iter()
        .map(|(article, quantities)| (article, stock(&quantities)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::shop::read::parse;

    #[test]
    fn which_orders_run_short_does_not_depend_on_their_order() {
        let bytes = include_bytes!("../../data/online-retail-2010-12.csv");
        let invoices = parse(Path::new("bundled"), bytes).expect("good");
        let full = shelves(&invoices);
        let mut rng = fastrand::Rng::with_seed(7);
        let mut fates = BTreeSet::new();
        for _ in 0..20 {
            let mut shelves = full.clone();
            let mut order: Vec<_> = invoices.iter().collect();
            rng.shuffle(&mut order);
            let mut short = BTreeSet::new();
            for invoice in order {
                let Checked::Chargeable { articles, .. } = check(invoice) else {
                    continue;
                };
                for (article, quantity) in articles {
                    let left = shelves.get_mut(&article).expect("a shelf");
                    if *left < quantity {
                        short.insert(invoice.id.clone());
                    } else {
                        *left -= quantity;
                    }
                }
            }
            assert_eq!(short.len(), 45);
            fates.insert(short);
        }
        assert_eq!(fates.len(), 1);
    }
}
