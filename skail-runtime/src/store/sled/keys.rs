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
//! | `h` id | an execution: its header, its number, and events that were written with the header |
//! | `m` number message | one message of an inbox |
//! | `x` number | an execution whose remains are being deleted |
//!
//! An execution's number stands for its id in all keys but one: keys of up to 22 bytes cost sled no
//! allocation, and an id that is used again after a deletion finds nothing of its predecessor.

use std::ops::RangeInclusive;

use crate::clock::Timestamp;
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
