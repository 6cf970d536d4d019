//! Searches, in their simplest form: everything is looked at and sorted.
//!
//! Owns the order of what is found, which other stores are compared with.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::data::{Data, Record};
use crate::store::{Count, Found, Place, Search};

impl Data {
    pub(super) fn find(&self, search: &Search) -> Found {
        let place = |record: &Record| {
            let header = &record.header;
            if search.prefix.is_some() {
                Place::Id(header.id.clone())
            } else {
                Place::Started(header.created_at, record.number)
            }
        };
        let is_behind = |record: &Record| match (&search.after, place(record)) {
            (Some(Place::Id(after)), Place::Id(id)) => id > *after,
            (Some(Place::Started(at, number)), Place::Started(created, mine)) => {
                (created, mine) < (*at, *number)
            }
            _ => true,
        };
        let records = self.records.values();
        let mut found: Vec<&Record> = records
            .filter(|record| search.matches(&record.header) && is_behind(record))
            .collect();
        // They come in the order of their ids.
        if search.prefix.is_none() {
            found.sort_by_key(|record| Reverse((record.header.created_at, record.number)));
        }
        let limit = search.limit.max(1);
        let mut page = Found::default();
        for (index, record) in found.iter().enumerate() {
            if index == limit {
                page.next = Some(place(found[index - 1]));
                break;
            }
            if record.damage.is_some() {
                page.damaged.push(record.header.id.clone());
            } else {
                page.headers.push(record.header.clone());
            }
        }
        page
    }

    pub(super) fn counts(&self) -> Vec<Count> {
        let mut counts = HashMap::new();
        for record in self.records.values() {
            let header = &record.header;
            *counts.entry((&header.function, header.status)).or_default() += 1;
        }
        let counts = counts.into_iter();
        counts
            .map(|((function, status), executions)| Count {
                function: function.clone(),
                status,
                executions,
            })
            .collect()
    }
}
