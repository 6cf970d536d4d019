//! Where everything lies in the one tree. These bytes are forever.
//!
//! Owns the layout of keys; must never know what stands under them. One prefix byte says what a key is
//! for. Numbers are big-endian, so that the order of the bytes is the order of the numbers.
//!
//! | key | record |
//! | --- | --- |
//! | `0` | the opening: who opened the store last, and how it was left |
//! | `1` | the watermark: the last group of commits known to be there |
//! | `c` number stamp part | one part of a record too large for one value |
//! | `d` due stamp part | the executions that become due at one time, as one group wrote them |
//! | `e` number sequence | the events of one commit |
//! | `i` status function created number | the id of an execution, by status and function, newest start last |
//! | `h` id | an execution: its header, its number, and events that were written with the header |
//! | `m` number message | one message of an inbox |
//! | `n` function | how many executions of one function stand in which status |
//! | `t` tag created number | the id of an execution that has this tag |
//! | `x` number | an execution whose remains are being deleted |
//!
//! A status is one byte; a function is the checksum of its name, a tag the digest of name and value. Two that
//! look the same are told apart by the headers.
//!
//! An execution's number stands for its id in all keys but one: keys of up to 22 bytes cost sled no
//! allocation, and an id that is used again after a deletion finds nothing of its predecessor.

use std::ops::RangeInclusive;

use sha2::{Digest as _, Sha256};

use crate::clock::Timestamp;
use crate::history::Status;
use crate::ids::{ExecutionId, Sequence};

pub(super) const OPENING: &[u8] = b"0";
pub(super) const WATERMARK: &[u8] = b"1";
pub(super) const PARTS: &[u8] = b"c";
pub(super) const DUE: &[u8] = b"d";
/// Behind the last due record.
pub(super) const DUE_END: &[u8] = b"e";
pub(super) const EVENTS: &[u8] = b"e";
pub(super) const HEADERS: &[u8] = b"h";
/// Behind the last header.
pub(super) const HEADERS_END: &[u8] = b"i";
pub(super) const LISTED: &[u8] = b"i";
/// Behind the last listed execution.
pub(super) const LISTED_END: &[u8] = b"j";
pub(super) const COUNTS: &[u8] = b"n";
pub(super) const TAGS: &[u8] = b"t";
pub(super) const MESSAGES: &[u8] = b"m";
pub(super) const DELETED: &[u8] = b"x";

/// A number that is given out once in the life of a store: the opening in the high bits, a count below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Stamp(pub(super) u64);

/// The place of a due record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct DueKey {
    pub(super) due: Timestamp,
    pub(super) group: Stamp,
    pub(super) part: u16,
}

pub(super) fn header(id: &ExecutionId) -> Vec<u8> {
    [HEADERS, id.as_str().as_bytes()].concat()
}

/// The id in a header's key; `None` if the key is damaged.
pub(super) fn header_id(key: &[u8]) -> Option<ExecutionId> {
    let id = std::str::from_utf8(key.strip_prefix(HEADERS)?).ok()?;
    ExecutionId::new(id).ok()
}

pub(super) fn events(number: Stamp, first: Sequence) -> Vec<u8> {
    numbered(b'e', number, &first.0.to_be_bytes())
}

/// All event keys of an execution from `first` on.
pub(super) fn events_from(number: Stamp, first: Sequence) -> RangeInclusive<Vec<u8>> {
    events(number, first)..=events(number, Sequence(u64::MAX))
}

/// The sequence in an event key.
pub(super) fn events_first(key: &[u8]) -> Option<Sequence> {
    Some(Sequence(u64::from_be_bytes(key.get(9..)?.try_into().ok()?)))
}

pub(super) fn message(number: Stamp, message: u64) -> Vec<u8> {
    numbered(b'm', number, &message.to_be_bytes())
}

pub(super) fn messages_of(number: Stamp) -> Vec<u8> {
    numbered(b'm', number, &[])
}

/// The message's number in a message key.
pub(super) fn message_number(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(key.get(9..)?.try_into().ok()?))
}

pub(super) fn part(number: Stamp, stamp: Stamp, part: u32) -> Vec<u8> {
    let mut key = numbered(b'c', number, &stamp.0.to_be_bytes());
    key.extend(part.to_be_bytes());
    key
}

/// The stamp in the key of a part.
pub(super) fn part_stamp(key: &[u8]) -> Option<Stamp> {
    Some(Stamp(u64::from_be_bytes(key.get(9..17)?.try_into().ok()?)))
}

pub(super) fn deleted(number: Stamp) -> Vec<u8> {
    numbered(b'x', number, &[])
}

/// The number in a key that has one.
pub(super) fn number(key: &[u8]) -> Option<Stamp> {
    let bytes = key.get(1..9)?.try_into().ok()?;
    Some(Stamp(u64::from_be_bytes(bytes)))
}

/// The prefixes under which an execution has keys beside its header.
pub(super) fn remains(number: Stamp) -> [Vec<u8>; 3] {
    [b'e', b'm', b'c'].map(|space| numbered(space, number, &[]))
}

/// The prefix of the keys of all executions in one status of one function.
pub(super) fn listed_group(status: Status, function: &str) -> Vec<u8> {
    let mut prefix = Vec::with_capacity(22);
    prefix.extend(LISTED);
    prefix.push(status_byte(status));
    prefix.extend(function_sum(function));
    prefix
}

/// The prefix of the keys of all executions in one status.
pub(super) fn listed_status(status: Status) -> Vec<u8> {
    vec![b'i', status_byte(status)]
}

/// The prefix that a key shares with those of the same status and function.
pub(super) fn listed_group_of(key: &[u8]) -> Option<&[u8]> {
    key.get(..6)
}

/// Whether the keys under such a prefix are those of a function.
pub(super) fn is_of_function(group: &[u8], function: &str) -> bool {
    group.get(2..6) == Some(&function_sum(function)[..])
}

/// The status in a key of a listed execution.
pub(super) fn listed_in(key: &[u8]) -> Option<Status> {
    let is_it = |status: &Status| key.get(1) == Some(&status_byte(*status));
    STATUSES.into_iter().find(is_it)
}

/// The prefix of the keys of all executions with a tag.
pub(super) fn tagged(name: &str, value: &str) -> Vec<u8> {
    let mut digest = Sha256::new();
    digest.update(name.len().to_be_bytes());
    digest.update(name);
    digest.update(value);
    let mut prefix = Vec::with_capacity(25);
    prefix.extend(TAGS);
    prefix.extend(&digest.finalize()[..8]);
    prefix
}

/// Where in the order of starts an execution lies: what follows such a prefix in its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    pub(super) created: Timestamp,
    pub(super) number: Stamp,
}

impl Turn {
    pub(super) fn under(self, prefix: &[u8]) -> Vec<u8> {
        let created = ordered(self.created).to_be_bytes();
        [prefix, &created, &self.number.0.to_be_bytes()].concat()
    }

    /// The turn in a key under a prefix of this length.
    pub(super) fn parse(key: &[u8], prefix: usize) -> Option<Self> {
        let turn: &[u8; 16] = key.get(prefix..)?.try_into().ok()?;
        let (created, number) = turn.split_first_chunk::<8>()?;
        Some(Self {
            created: Timestamp::from_millis((u64::from_be_bytes(*created) ^ SIGN).cast_signed()),
            number: Stamp(u64::from_be_bytes(number.try_into().ok()?)),
        })
    }
}

/// How much of a function's name is in the key of its counts.
const COUNTED_NAME: usize = 500;

/// The name under which a function is counted.
pub(super) fn counted_name(function: &str) -> &str {
    &function[..function.floor_char_boundary(COUNTED_NAME)]
}

pub(super) fn counts(function: &str) -> Vec<u8> {
    [COUNTS, counted_name(function).as_bytes()].concat()
}

/// The function in the key of its counts.
pub(super) fn counts_of(key: &[u8]) -> Option<&str> {
    std::str::from_utf8(key.strip_prefix(COUNTS)?).ok()
}

fn function_sum(function: &str) -> [u8; 4] {
    crc32fast::hash(function.as_bytes()).to_be_bytes()
}

/// Each status that [`status_byte`] knows.
const STATUSES: [Status; 4] = [
    Status::Running,
    Status::Blocked,
    Status::Completed,
    Status::Failed,
];

fn status_byte(status: Status) -> u8 {
    match status {
        Status::Running => 1,
        Status::Blocked => 2,
        Status::Completed => 3,
        Status::Failed => 4,
    }
}

fn numbered(space: u8, number: Stamp, rest: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(21);
    key.push(space);
    key.extend(number.0.to_be_bytes());
    key.extend(rest);
    key
}

impl DueKey {
    pub(super) fn bytes(self) -> Vec<u8> {
        let mut key = Vec::with_capacity(19);
        key.extend(DUE);
        key.extend(ordered(self.due).to_be_bytes());
        key.extend(self.group.0.to_be_bytes());
        key.extend(self.part.to_be_bytes());
        key
    }

    pub(super) fn parse(key: &[u8]) -> Option<Self> {
        let rest: &[u8; 18] = key.strip_prefix(DUE)?.try_into().ok()?;
        let (due, rest) = rest.split_first_chunk::<8>()?;
        let (group, part) = rest.split_first_chunk::<8>()?;
        Some(Self {
            due: Timestamp::from_millis((u64::from_be_bytes(*due) ^ SIGN).cast_signed()),
            group: Stamp(u64::from_be_bytes(*group)),
            part: u16::from_be_bytes(part.try_into().ok()?),
        })
    }

    /// The first key that a record due later than `due` can have; `None` at the end of time.
    pub(super) fn after(due: Timestamp) -> Option<Self> {
        let next = due.as_millis().checked_add(1)?;
        Some(Self {
            due: Timestamp::from_millis(next),
            group: Stamp(0),
            part: 0,
        })
    }
}

const SIGN: u64 = 1 << 63;

/// Negative times before positive ones.
fn ordered(time: Timestamp) -> u64 {
    time.as_millis().cast_unsigned() ^ SIGN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_keys_sort_by_time_and_come_back() {
        let times = [i64::MIN, -1, 0, 1, 1_700_000_000_000, i64::MAX];
        let keys = times.map(|millis| DueKey {
            due: Timestamp::from_millis(millis),
            group: Stamp(7),
            part: 3,
        });
        assert!(
            keys.windows(2)
                .all(|pair| pair[0].bytes() < pair[1].bytes())
        );
        for key in keys {
            assert_eq!(DueKey::parse(&key.bytes()), Some(key));
        }
        assert_eq!(DueKey::after(Timestamp::MAX), None);
    }

    #[test]
    fn keys_with_a_number_fit_into_sled_without_an_allocation() {
        let number = Stamp(u64::MAX);
        assert!(part(number, number, u32::MAX).len() <= 22);
        assert!(events(number, Sequence(0)).len() <= 22);
    }
}
