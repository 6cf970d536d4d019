//! What stands under the keys, and how a value that is too large for one key is cut.
//!
//! Owns the stored forms and the bound on a value's size: sled writes values of more than a quarter of a
//! segment to files of their own, with no sync of any kind, and pages that grow near it too. Must never
//! let such a value through. These forms are forever; fields are added with a default.

use std::collections::VecDeque;

use ::sled::Tree;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::keys::{self, Stamp};
use crate::clock::Timestamp;
use crate::history::{Event, Status, decode_record, encode_record};
use crate::ids::{ExecutionId, Sequence};
use crate::store::{Header, Message};

/// The largest value that sled is given. A page splits above 16 entries, so that pages stay far below
/// the 128 KiB at which sled takes to files.
pub(super) const MAX_VALUE: usize = 4_096;

/// Events up to this size are written with the header, where a commit changes the header anyway: one put
/// for both.
pub(super) const INLINE_EVENTS: usize = 1_024;

/// An execution.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Execution {
    pub(super) number: u64,
    pub(super) header: Header,
    /// The stamp of the due entry that holds; without one it is the number, as at the creation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) entered: Option<u64>,
    /// The first event, unless it is large: then it stands with the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) started: Option<Event>,
    /// The events of the commit that changed the header last, unless they are large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) latest: Option<Latest>,
    /// The parts in which this record stands, if it is large: the next one has parts of its own.
    #[serde(skip)]
    pub(super) parts: Option<Parts>,
}

/// The parts of a record that was cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts {
    /// These two stand in their keys.
    pub(super) number: Stamp,
    pub(super) stamp: Stamp,
    count: u32,
}

impl Parts {
    pub(super) fn keys(self) -> impl Iterator<Item = Vec<u8>> {
        (0..self.count).map(move |index| keys::part(self.number, self.stamp, index))
    }
}

impl Execution {
    /// The stamp of the due entry that holds. All others of this execution are of the past.
    pub(super) fn entered(&self) -> Stamp {
        Stamp(self.entered.unwrap_or(self.number))
    }
}

/// Events that stand with the header. The next change of the header moves them to the others.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Latest {
    pub(super) first: Sequence,
    pub(super) events: Vec<Event>,
}

/// A message in an inbox.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Mail {
    pub(super) at: Timestamp,
    pub(super) message: Message,
}

/// The executions of one group that become due at the same time. An entry is a hint: whether it still
/// holds is for the header to say.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct DueRecord {
    pub(super) functions: Vec<String>,
    pub(super) entries: Vec<DueEntry>,
}

/// One execution in a due record.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct DueEntry {
    /// The place of its function in the record.
    #[serde(rename = "f")]
    pub(super) function: u32,
    #[serde(rename = "i")]
    pub(super) id: ExecutionId,
    /// How long its history was; 0 if nobody knew.
    #[serde(rename = "l")]
    pub(super) length: u64,
    /// The stamp by which the header knows the entry.
    #[serde(rename = "e")]
    pub(super) entered: u64,
    /// It was a suspect before.
    #[serde(rename = "s", default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) suspect: bool,
}

/// Who opened the store last, and how it was left.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Opening {
    /// Which store this is: the side file names the same.
    pub(super) store: u128,
    /// The first stamp of this opening.
    pub(super) first_stamp: u64,
    /// Whether it was closed in an orderly way.
    pub(super) closed: bool,
    /// Due entries written before this stamp belong to executions that may have been running when the
    /// process died.
    pub(super) suspects_before: u64,
    /// Whether every execution is listed and counted. A release that knows of no lists leaves this out when
    /// it opens the store, and with it what it changed.
    #[serde(default)]
    pub(super) listed: bool,
}

/// How many executions of one function stand in which status.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tally {
    pub(super) counts: Vec<(Status, u64)>,
}

/// Stands for a record that was cut into parts.
#[derive(Debug, Serialize, Deserialize)]
struct Cut {
    number: u64,
    stamp: u64,
    parts: u32,
    bytes: u64,
    checksum: u32,
}

const WHOLE: u8 = 0;
const CUT: u8 = 1;

/// A framed record.
#[derive(Debug)]
pub(super) enum Encoded {
    /// The value to put.
    Small(Vec<u8>),
    /// Bytes that have to be [cut](cut) first.
    Large(Vec<u8>),
}

/// One part of a record that was cut: its key and value.
pub(super) type Part = (Vec<u8>, Vec<u8>);

/// Frames a record.
pub(super) fn encode<T: Serialize>(record: &T) -> Encoded {
    let mut bytes = encode_record(record);
    if bytes.len() < MAX_VALUE {
        bytes.push(WHOLE);
        Encoded::Small(bytes)
    } else {
        Encoded::Large(bytes)
    }
}

/// Cuts a record of the execution `number`: the value that stands for it, and the parts that have to be
/// there before it. `stamp` tells them from the parts of other records.
pub(super) fn cut(bytes: &[u8], number: Stamp, stamp: Stamp) -> (Vec<u8>, VecDeque<Part>) {
    let parts: VecDeque<Part> = (0..)
        .zip(bytes.chunks(MAX_VALUE))
        .map(|(index, part)| (keys::part(number, stamp, index), part.to_vec()))
        .collect();
    let cut = Cut {
        number: number.0,
        stamp: stamp.0,
        parts: u32::try_from(parts.len()).unwrap_or(u32::MAX),
        bytes: bytes.len() as u64,
        checksum: crc32fast::hash(bytes),
    };
    let mut value = encode_record(&cut);
    value.push(CUT);
    (value, parts)
}

/// Reads a record, whole or cut; `Err` says what is wrong with it.
pub(super) fn read<T: DeserializeOwned>(tree: &Tree, value: &[u8]) -> Result<T, String> {
    let decoded = match value.split_last() {
        Some((&WHOLE, record)) => decode_record(record),
        Some((&CUT, record)) => match decode_record(record) {
            Ok(cut) => decode_record(&join(tree, &cut)?),
            Err(error) => Err(error),
        },
        Some((mark, _)) => return Err(format!("it ends with the unknown mark {mark}")),
        None => return Err("it is empty".to_owned()),
    };
    decoded.map_err(|error| error.to_string())
}

/// The parts in which a record stands, if it is large and can be read.
pub(super) fn parts(value: &[u8]) -> Option<Parts> {
    let (&CUT, record) = value.split_last()? else {
        return None;
    };
    let cut: Cut = decode_record(record).ok()?;
    Some(Parts {
        number: Stamp(cut.number),
        stamp: Stamp(cut.stamp),
        count: cut.parts,
    })
}

fn join(tree: &Tree, cut: &Cut) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    for index in 0..cut.parts {
        let key = keys::part(Stamp(cut.number), Stamp(cut.stamp), index);
        let part = tree.get(key).map_err(|error| error.to_string())?;
        bytes.extend_from_slice(&part.ok_or_else(|| format!("part {index} is missing"))?);
    }
    if bytes.len() as u64 != cut.bytes || crc32fast::hash(&bytes) != cut.checksum {
        return Err("its parts do not match its checksum".to_owned());
    }
    Ok(bytes)
}
