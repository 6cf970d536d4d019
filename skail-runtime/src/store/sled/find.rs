//! One page of what somebody looks for.
//!
//! Owns the walk through the lists: one walk for each status and function, merged, newest start first. Must
//! never believe a list: the header says what an execution is.

use std::ops::Bound;

use ::sled::{Iter, Tree};

use super::keys::{self, Stamp, Turn};
use super::read;
use super::record;
use crate::clock::Timestamp;
use crate::ids::ExecutionId;
use crate::store::{Found, Place, Search};

/// The most executions that one call looks at.
const MAX_LOOKED_AT: usize = 5_000;

pub(super) fn find(tree: &Tree, search: &Search) -> Result<Found, ::sled::Error> {
    match &search.prefix {
        Some(prefix) => by_prefix(tree, search, prefix),
        None => by_start(tree, search),
    }
}

fn by_prefix(tree: &Tree, search: &Search, prefix: &str) -> Result<Found, ::sled::Error> {
    let begin = [keys::HEADERS, prefix.as_bytes()].concat();
    let from = match &search.after {
        Some(Place::Id(after)) => Bound::Excluded(keys::header(after).max(begin.clone())),
        _ => Bound::Included(begin.clone()),
    };
    let mut page = Looking::new(search);
    for found in tree.range((from, Bound::Unbounded)) {
        let (key, _) = found?;
        if !key.starts_with(&begin) {
            break;
        }
        let Some(id) = keys::header_id(&key) else {
            continue;
        };
        if page.is_full() {
            return Ok(page.and_more());
        }
        page.look(tree, &id, Place::Id(id.clone()), None);
    }
    Ok(page.found)
}

fn by_start(tree: &Tree, search: &Search) -> Result<Found, ::sled::Error> {
    let prefixes = match &search.tag {
        Some((name, value)) => vec![keys::tagged(name, value)],
        None => groups(tree, search)?,
    };
    let mut walks = Vec::with_capacity(prefixes.len());
    for prefix in prefixes {
        walks.extend(Walk::begin(tree, &prefix, search)?);
    }
    let mut page = Looking::new(search);
    let mut last = None;
    loop {
        let newest = (0..walks.len()).max_by_key(|&index| walks[index].turn);
        let Some(walk) = newest.and_then(|index| walks.get_mut(index)) else {
            return Ok(page.found);
        };
        let (turn, value) = (walk.turn, std::mem::take(&mut walk.value));
        // An execution that just changed its status may be met in both.
        if last != Some(turn) {
            if page.is_full() {
                return Ok(page.and_more());
            }
            last = Some(turn);
            let place = Place::Started(turn.created, turn.number.0);
            // An entry that cannot be read is of an execution that the list by ids still has.
            if let Ok(id) = record::read::<ExecutionId>(tree, &value) {
                page.look(tree, &id, place, Some(turn.number));
            }
        }
        if !walk.advance()?
            && let Some(index) = newest
        {
            walks.swap_remove(index);
        }
    }
}

/// The prefixes under which what is looked for is listed. Finding them costs one look for each that there
/// is, not one for each execution.
fn groups(tree: &Tree, search: &Search) -> Result<Vec<Vec<u8>>, ::sled::Error> {
    if let (Some(status), Some(function)) = (search.status, &search.function) {
        return Ok(vec![keys::listed_group(status, function)]);
    }
    let within = search
        .status
        .map_or_else(|| keys::LISTED.to_vec(), keys::listed_status);
    let mut groups = Vec::new();
    let mut from = within.clone();
    while let Some(found) = tree.range(from..keys::LISTED_END.to_vec()).next() {
        let (key, _) = found?;
        let Some(group) = keys::listed_group_of(&key).filter(|group| group.starts_with(&within))
        else {
            break;
        };
        if search
            .function
            .as_ref()
            .is_none_or(|function| keys::is_of_function(group, function))
        {
            groups.push(group.to_vec());
        }
        // Behind everything that begins so.
        from = [group, &[u8::MAX; 17]].concat();
    }
    Ok(groups)
}

/// A walk through one list, newest start first; it stands on an entry.
struct Walk {
    prefix: usize,
    entries: Iter,
    turn: Turn,
    value: Vec<u8>,
}

impl Walk {
    /// `None` if there is nothing that is looked for.
    fn begin(tree: &Tree, prefix: &[u8], search: &Search) -> Result<Option<Self>, ::sled::Error> {
        let oldest = Turn {
            created: search
                .started_from
                .unwrap_or(Timestamp::from_millis(i64::MIN)),
            number: Stamp(0),
        };
        let from = oldest.under(prefix);
        let before = search.started_before.map(|created| Turn {
            created,
            number: Stamp(0),
        });
        let after = match search.after {
            Some(Place::Started(created, number)) => Some(Turn {
                created,
                number: Stamp(number),
            }),
            _ => None,
        };
        let until = match before.into_iter().chain(after).min() {
            Some(turn) => Bound::Excluded(turn.under(prefix)),
            None => Bound::Included([prefix, &[u8::MAX; 16]].concat()),
        };
        if let Bound::Excluded(until) = &until
            && *until <= from
        {
            return Ok(None);
        }
        let mut walk = Self {
            prefix: prefix.len(),
            entries: tree.range((Bound::Included(from), until)),
            turn: oldest,
            value: Vec::new(),
        };
        Ok(walk.advance()?.then_some(walk))
    }

    /// Goes to the next entry, if there is one.
    fn advance(&mut self) -> Result<bool, ::sled::Error> {
        while let Some(found) = self.entries.next_back() {
            let (key, value) = found?;
            if let Some(turn) = Turn::parse(&key, self.prefix) {
                self.turn = turn;
                self.value = value.to_vec();
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A page as far as it is put together.
struct Looking<'a> {
    search: &'a Search,
    found: Found,
    looked_at: usize,
    last: Option<Place>,
}

impl<'a> Looking<'a> {
    fn new(search: &'a Search) -> Self {
        Self {
            search,
            found: Found::default(),
            looked_at: 0,
            last: None,
        }
    }

    fn is_full(&self) -> bool {
        let found = self.found.headers.len() + self.found.damaged.len();
        found >= self.search.limit.max(1) || self.looked_at == MAX_LOOKED_AT
    }

    /// Takes an execution if it is what is looked for, and still the one that was listed.
    fn look(&mut self, tree: &Tree, id: &ExecutionId, place: Place, number: Option<Stamp>) {
        self.looked_at += 1;
        self.last = Some(place);
        match read::execution(tree, id) {
            Ok(Some(execution)) => {
                let same = number.is_none_or(|number| execution.number == number.0);
                if same && self.search.matches(&execution.header) {
                    self.found.headers.push(execution.header);
                }
            }
            Ok(None) => {}
            Err(_) => self.found.damaged.push(id.clone()),
        }
    }

    /// The page, with more behind it.
    fn and_more(mut self) -> Found {
        self.found.next = self.last;
        self.found
    }
}
