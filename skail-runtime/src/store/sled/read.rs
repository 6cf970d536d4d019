//! What is in the tree, read back.
//!
//! Owns the way from records to executions, histories, inboxes and lists, and says of a record that
//! cannot be read whose it is. Must never see memory or change anything: the same functions serve the
//! keeper's thread and readers beside it.

use std::collections::HashSet;

use ::sled::Tree;

use super::keys::{self, DueKey, Stamp};
use super::record::{self, DueEntry, DueRecord, Execution, Latest, Mail};
use crate::clock::Timestamp;
use crate::history::{Event, Status};
use crate::ids::{ExecutionId, Sequence};
use crate::store::{Message, MessageId, Page, Query, StoreError};

/// The most headers that one call of `list` looks at.
const MAX_LOOKED_AT: usize = 10_000;

/// An execution's record.
pub(super) fn execution(tree: &Tree, id: &ExecutionId) -> Result<Option<Execution>, StoreError> {
    settled(tree, id, Ok)
}

/// At most `limit` events from `from` on.
pub(super) fn history(
    tree: &Tree,
    id: &ExecutionId,
    from: Sequence,
    limit: usize,
) -> Result<Vec<Event>, StoreError> {
    let events = settled(tree, id, |execution| events(tree, execution, from, limit))?;
    Ok(events.unwrap_or_default())
}

/// The last event of an execution's history.
pub(super) fn last_event(tree: &Tree, id: &ExecutionId) -> Result<Option<Event>, StoreError> {
    let event = settled(tree, id, |execution| {
        let apart = last_commit(tree, &execution)?;
        let latest = execution.latest.map(|latest| (latest.first, latest.events));
        // What a header has handed on may stand in two places; either is as good.
        let last = latest
            .into_iter()
            .chain(apart)
            .max_by_key(|(first, _)| *first);
        Ok(match last {
            Some((_, mut events)) => events.pop(),
            None => execution.started,
        })
    })?;
    Ok(event.flatten())
}

/// At most `limit` messages, oldest first.
pub(super) fn inbox(
    tree: &Tree,
    id: &ExecutionId,
    limit: usize,
) -> Result<Vec<(MessageId, Message)>, StoreError> {
    let messages = settled(tree, id, |execution| {
        let mut messages = Vec::new();
        let keys = keys::messages_of(Stamp(execution.number));
        for found in tree.scan_prefix(keys).take(limit) {
            let (key, value) =
                found.map_err(|error| damaged(id, "its inbox", error.to_string()))?;
            let mail: Mail = record::read(tree, &value)
                .map_err(|reason| damaged(id, "a message in its inbox", reason))?;
            let number = keys::message_number(&key).unwrap_or_default();
            messages.push((MessageId(number), mail.message));
        }
        Ok(messages)
    })?;
    Ok(messages.unwrap_or_default())
}

/// Reads what belongs to an execution; `None` if there is none. What looks damaged because it was being
/// changed or deleted meanwhile is read again.
fn settled<T>(
    tree: &Tree,
    id: &ExecutionId,
    read: impl Fn(Execution) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    let damaged = |reason: String| damaged(id, "its header", reason);
    let header = || {
        let value = tree.get(keys::header(id));
        value.map_err(|error| damaged(error.to_string()))
    };
    let mut value = header()?;
    loop {
        let Some(bytes) = &value else {
            return Ok(None);
        };
        let execution = record::read::<Execution>(tree, bytes).map_err(damaged);
        let answer = execution.and_then(|mut execution| {
            if execution.header.id != *id {
                return Err(damaged(format!("it is that of `{}`", execution.header.id)));
            }
            execution.parts = record::parts(bytes);
            read(execution)
        });
        if answer.is_ok() {
            return answer.map(Some);
        }
        let now = header()?;
        if now == value {
            return answer.map(Some);
        }
        value = now;
    }
}

fn events(
    tree: &Tree,
    execution: Execution,
    from: Sequence,
    limit: usize,
) -> Result<Vec<Event>, StoreError> {
    let number = Stamp(execution.number);
    let mut history = History {
        id: execution.header.id,
        started: execution.started,
        latest: execution.latest,
        events: Vec::new(),
        next: from,
        limit,
    };
    // The commit that holds `from` may begin before it.
    let up_to = keys::events(number, Sequence(0))..=keys::events(number, from);
    let begin = match tree.range(up_to).next_back() {
        Some(found) => keys::events_first(&found.map_err(|error| history.unreadable(&error))?.0),
        None => None,
    };
    for found in tree.range(keys::events_from(number, begin.unwrap_or(from))) {
        let (key, value) = found.map_err(|error| history.unreadable(&error))?;
        let Some(first) = keys::events_first(&key) else {
            continue;
        };
        history.take_from_header();
        if history.events.len() == limit {
            break;
        }
        if first > history.next {
            return Err(history.missing());
        }
        let what = || format!("event {first} of its history");
        let events: Vec<Event> =
            record::read(tree, &value).map_err(|reason| damaged(&history.id, &what(), reason))?;
        history.take(first, events);
    }
    history.take_from_header();
    if history.events.len() < limit
        && history
            .latest
            .as_ref()
            .is_some_and(|latest| latest.first > history.next)
    {
        return Err(history.missing());
    }
    Ok(history.events)
}

/// A history as far as it is put together.
struct History {
    id: ExecutionId,
    started: Option<Event>,
    latest: Option<Latest>,
    events: Vec<Event>,
    next: Sequence,
    limit: usize,
}

impl History {
    /// Takes what comes next out of a commit. Events that a header has handed on stand in two places.
    fn take(&mut self, first: Sequence, events: Vec<Event>) {
        let known = usize::try_from(self.next.0.saturating_sub(first.0)).unwrap_or(usize::MAX);
        let room = self.limit - self.events.len();
        for event in events.into_iter().skip(known).take(room) {
            self.events.push(event);
            self.next = self.next.next();
        }
    }

    /// Takes what comes next out of what stands with the header.
    fn take_from_header(&mut self) {
        if self.next == Sequence(0)
            && let Some(started) = self.started.take()
        {
            self.take(Sequence(0), vec![started]);
        }
        let next = self.next;
        if let Some(latest) = self.latest.take_if(|latest| latest.first <= next) {
            self.take(latest.first, latest.events);
        }
    }

    fn missing(&self) -> StoreError {
        let what = format!("event {} of its history", self.next);
        damaged(&self.id, &what, "it is not there".to_owned())
    }

    fn unreadable(&self, error: &::sled::Error) -> StoreError {
        damaged(&self.id, "its history", error.to_string())
    }
}

/// The length of an execution's history.
pub(super) fn length(tree: &Tree, execution: &Execution) -> Result<Sequence, StoreError> {
    let started = u64::from(execution.started.is_some());
    let latest = execution
        .latest
        .as_ref()
        .map_or(0, |latest| latest.first.0 + latest.events.len() as u64);
    let apart =
        last_commit(tree, execution)?.map_or(0, |(first, events)| first.0 + events.len() as u64);
    Ok(Sequence(started.max(latest).max(apart)))
}

/// The last commit whose events stand apart from the header.
fn last_commit(
    tree: &Tree,
    execution: &Execution,
) -> Result<Option<(Sequence, Vec<Event>)>, StoreError> {
    let id = &execution.header.id;
    let keys = keys::events_from(Stamp(execution.number), Sequence(0));
    let Some(last) = tree.range(keys).next_back() else {
        return Ok(None);
    };
    let (key, value) = last.map_err(|error| damaged(id, "its history", error.to_string()))?;
    let first = keys::events_first(&key).unwrap_or(Sequence(0));
    let events = record::read(tree, &value)
        .map_err(|reason| damaged(id, &format!("event {first} of its history"), reason))?;
    Ok(Some((first, events)))
}

/// Whether the execution has a message.
pub(super) fn has_mail(tree: &Tree, number: Stamp) -> bool {
    tree.scan_prefix(keys::messages_of(number)).next().is_some()
}

/// The time of the oldest message, beside the `consumed` ones, that wakes an execution in `status`.
pub(super) fn waking(
    tree: &Tree,
    number: Stamp,
    status: Status,
    consumed: &[MessageId],
) -> Result<Option<Timestamp>, StoreError> {
    let consumed: HashSet<_> = consumed.iter().collect();
    let mut oldest = None;
    for found in tree.scan_prefix(keys::messages_of(number)) {
        // One that cannot be read wakes nobody; whoever reads the inbox is told of it.
        let Ok((key, value)) = found else { break };
        let Ok(mail) = record::read::<Mail>(tree, &value) else {
            continue;
        };
        let id = MessageId(keys::message_number(&key).unwrap_or_default());
        if mail.message.wakes(status) && !consumed.contains(&id) {
            oldest = oldest.into_iter().chain([mail.at]).min();
        }
    }
    Ok(oldest)
}

/// One page of headers.
pub(super) fn list(tree: &Tree, query: &Query) -> Result<Page, ::sled::Error> {
    let mut page = Page::default();
    let limit = query.limit.max(1);
    let mut from = query
        .after
        .as_ref()
        .map_or_else(|| keys::HEADERS.to_vec(), keys::header);
    if query.after.is_some() {
        // The smallest key behind it.
        from.push(0);
    }
    let headers = tree.range(from..keys::HEADERS_END.to_vec());
    let mut last = None;
    for (looked_at, found) in headers.enumerate() {
        let (key, value) = found?;
        if looked_at == MAX_LOOKED_AT || page.headers.len() + page.damaged.len() == limit {
            page.next = last;
            break;
        }
        let Some(id) = keys::header_id(&key) else {
            continue;
        };
        last = Some(id.clone());
        match record::read::<Execution>(tree, &value) {
            Ok(Execution { header, .. }) => {
                if query.status.is_none_or(|status| header.status == status)
                    && query
                        .function
                        .as_ref()
                        .is_none_or(|function| header.function == *function)
                {
                    page.headers.push(header);
                }
            }
            Err(_) => page.damaged.push(id),
        }
    }
    Ok(page)
}

/// What a due record that cannot be read must have said: the headers hold every due time. Entries of
/// other records may come with it; one of the two is then found to be of the past.
pub(super) fn due_record(tree: &Tree, key: DueKey) -> Result<DueRecord, ::sled::Error> {
    let mut record = DueRecord::default();
    for found in tree.scan_prefix(keys::HEADERS) {
        let (_, value) = found?;
        let Ok(execution) = record::read::<Execution>(tree, &value) else {
            continue;
        };
        let entered = execution.entered();
        let header = execution.header;
        if header.due == Some(key.due) {
            let place = u32::try_from(record.functions.len()).unwrap_or(u32::MAX);
            record.functions.push(header.function);
            record.entries.push(DueEntry {
                function: place,
                id: header.id,
                length: 0,
                entered: entered.0,
                suspect: false,
            });
        }
    }
    Ok(record)
}

/// The keys that an execution has beside its header; `Err` if they are more than `most`.
pub(super) fn remains(
    tree: &Tree,
    number: Stamp,
    most: usize,
) -> Result<Vec<Vec<u8>>, Vec<Vec<u8>>> {
    let mut keys = Vec::new();
    for prefix in keys::remains(number) {
        for found in tree.scan_prefix(prefix) {
            let Ok((key, _)) = found else { break };
            if keys.len() == most {
                return Err(keys);
            }
            keys.push(key.to_vec());
        }
    }
    Ok(keys)
}

fn damaged(id: &ExecutionId, what: &str, reason: String) -> StoreError {
    StoreError::Damaged {
        execution: id.clone(),
        what: what.to_owned(),
        reason,
    }
}
