//! Looking for executions as a person does: by status, function, time, tag and words, newest first.
//!
//! Owns what a search asks for and whether a header answers it, so that all stores agree. Must never know
//! how a store finds its candidates.

use std::fmt;
use std::str::FromStr;

use super::model::Header;
use crate::clock::Timestamp;
use crate::history::Status;
use crate::ids::ExecutionId;

/// What to look for: everything that is given has to hold.
///
/// ```
/// use skail_runtime::history::Status;
/// use skail_runtime::store::Search;
///
/// let failed_orders = Search {
///     status: Some(Status::Failed),
///     function: Some("process_order".to_owned()),
///     text: Some("gateway".to_owned()),
///     limit: 50,
///     ..Search::default()
/// };
/// # let _ = failed_orders;
/// ```
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Only this status.
    pub status: Option<Status>,
    /// Only this function, by its recorded name.
    pub function: Option<String>,
    /// Only ids that begin so. What is found is then in the order of the ids.
    pub prefix: Option<String>,
    /// Only what was started at this time or later.
    pub started_from: Option<Timestamp>,
    /// Only what was started before this time.
    pub started_before: Option<Timestamp>,
    /// Only what has this tag with this value.
    pub tag: Option<(String, String)>,
    /// Only where the problem, the id, or the value of a tag holds these words, in any case.
    pub text: Option<String>,
    /// Where to go on: the [`Found::next`] of the page before.
    pub after: Option<Place>,
    /// The most headers to return; 0 counts as 1.
    pub limit: usize,
}

impl Search {
    /// Whether an execution is what is looked for. [`after`](Self::after) and [`limit`](Self::limit) are
    /// the store's business.
    ///
    /// ```
    /// # use skail_runtime::store::{Header, Search};
    /// fn count(headers: &[Header], search: &Search) -> usize {
    ///     headers.iter().filter(|header| search.matches(header)).count()
    /// }
    /// ```
    #[must_use]
    pub fn matches(&self, header: &Header) -> bool {
        let created = header.created_at;
        self.status.is_none_or(|status| header.status == status)
            && self
                .function
                .as_ref()
                .is_none_or(|function| header.function == *function)
            && self
                .prefix
                .as_ref()
                .is_none_or(|prefix| header.id.as_str().starts_with(prefix))
            && self.started_from.is_none_or(|from| created >= from)
            && self.started_before.is_none_or(|before| created < before)
            && self
                .tag
                .as_ref()
                .is_none_or(|(name, value)| header.tags.get(name) == Some(value))
            && self
                .text
                .as_ref()
                .is_none_or(|text| holds(header, &text.to_lowercase()))
    }
}

fn holds(header: &Header, words: &str) -> bool {
    let texts = header
        .problem
        .iter()
        .chain(header.tags.values())
        .map(String::as_str);
    texts
        .chain([header.id.as_str()])
        .any(|text| text.to_lowercase().contains(words))
}

/// A place between two pages of what a search finds.
///
/// As text it goes into links; what is in it is for the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Behind this id, in a search by prefix.
    Id(ExecutionId),
    /// Behind the execution started at this time with this number of the store's.
    Started(Timestamp, u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "i{id}"),
            Self::Started(at, number) => write!(f, "s{}.{number}", at.as_millis()),
        }
    }
}

impl FromStr for Place {
    type Err = InvalidPlace;

    fn from_str(text: &str) -> Result<Self, InvalidPlace> {
        if let Some(id) = text.strip_prefix('i') {
            return ExecutionId::new(id).map(Self::Id).map_err(|_| InvalidPlace);
        }
        let (at, number) = text
            .strip_prefix('s')
            .and_then(|rest| rest.split_once('.'))
            .ok_or(InvalidPlace)?;
        let at = at.parse().map_err(|_| InvalidPlace)?;
        let number = number.parse().map_err(|_| InvalidPlace)?;
        Ok(Self::Started(Timestamp::from_millis(at), number))
    }
}

/// A text that no place wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no place in a list; take the `next` of the page before as it is")]
pub struct InvalidPlace;

/// One page of what a search found.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// The headers: newest start first, those of the same millisecond in an order that stays; by id in a
    /// search by prefix.
    pub headers: Vec<Header>,
    /// Executions that may be what is looked for, but whose headers cannot be read.
    pub damaged: Vec<ExecutionId>,
    /// Where the next page begins: pass it as [`after`](Search::after). `None` at the end.
    pub next: Option<Place>,
}

/// How many executions of one function stand in one status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The recorded name of the function, cut after some hundred bytes.
    pub function: String,
    /// Where they stand.
    pub status: Status,
    /// How many there are, at least 1.
    pub executions: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_survives_as_text() {
        let places = [
            Place::Id(ExecutionId::new("sorder.7").unwrap()),
            Place::Started(Timestamp::from_millis(-5), u64::MAX),
            Place::Started(Timestamp::MAX, 0),
        ];
        for place in places {
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        for text in ["", "s", "s1", "s1.", "s.1", "i", "x1.2", "s1.2.3", "s1.-2"] {
            assert_eq!(text.parse::<Place>(), Err(InvalidPlace), "{text}");
        }
    }
}
