//! Who gets what to work on.
//!
//! Owns claiming: the agenda says what is due, the header says whether that still holds. Must never
//! change the tree: a lease lives in memory.

use super::agenda::{Entry, Next};
use super::books::Books;
use super::keys::Stamp;
use super::leases::{Owned, Written};
use super::read;
use super::record::Execution;
use crate::clock::Timestamp;
use crate::history::Event;
use crate::ids::{Epoch, ExecutionId, Sequence};
use crate::store::{Claim, ClaimRequest, Claimed, Lease, StoreError};

impl Books {
    /// Leases what is due.
    pub(super) fn claim(&mut self, request: &ClaimRequest) -> Result<Claimed, ::sled::Error> {
        self.agenda.want(&request.functions);
        self.void_ended(request.now);
        let mut claimed = Claimed::default();
        while claimed.claims.len() < request.limit {
            let Self {
                agenda,
                leases,
                tree,
                ..
            } = self;
            let held = |id: &_| leases.entered(id);
            match agenda.next(&request.functions, request.now, tree, &held)? {
                Next::Nothing => break,
                Next::Damaged(key) => {
                    let record = read::due_record(tree, key)?;
                    agenda.load(key, &record, &held);
                    self.repaired.push((key, record));
                }
                Next::Entry(entry) => match self.lease(entry, request.until) {
                    Ok(claim) => claimed.claims.extend(claim),
                    Err((id, error)) => {
                        // Its entry stays in the tree, so that the next opening reports it again.
                        if self.reported.insert(id) {
                            claimed.damaged.push(error);
                        }
                    }
                },
            }
        }
        Ok(claimed)
    }

    /// Leases one execution, unless its entry is of the past.
    fn lease(
        &mut self,
        entry: Entry,
        until: Timestamp,
    ) -> Result<Option<Claim>, (ExecutionId, StoreError)> {
        let Entry {
            id,
            key,
            entered,
            length,
            counted,
            suspect,
            noted_suspect,
            ..
        } = entry;
        if self.leases.get(&id).is_some() {
            self.agenda.died(key);
            return Ok(None);
        }
        let execution = match read::execution(&self.tree, &id) {
            Ok(execution) => execution.filter(|execution| {
                execution.header.due == Some(key.due) && execution.entered() == entered
            }),
            Err(error) => return Err((id, error)),
        };
        let Some(execution) = execution else {
            self.agenda.died(key);
            return Ok(None);
        };
        let written = Written {
            key,
            // Of a record that was not loaded yet, who knows what it says.
            length: if self.agenda.knows(key) {
                length
            } else {
                Sequence(0)
            },
            suspect: noted_suspect,
        };
        let length = if counted {
            length
        } else {
            read::length(&self.tree, &execution).map_err(|error| (id.clone(), error))?
        };
        let mail = self.mail && read::has_mail(&self.tree, Stamp(execution.number));
        let epoch = Epoch(self.stamps.next().0);
        let claim = Claim {
            lease: Lease {
                execution: id.clone(),
                epoch,
            },
            header: execution.header.clone(),
            suspect: suspect && !execution.header.status.at_rest(),
            mail,
            history: at_hand(&execution, length),
        };
        self.leases.grant(
            id,
            Owned {
                epoch,
                until,
                execution,
                length,
                entry: Some(written),
                mail,
            },
        );
        Ok(Some(claim))
    }

    /// The first time later than `after` at which something may become claimable.
    pub(super) fn next_due(&self, after: Timestamp) -> Result<Option<Timestamp>, ::sled::Error> {
        let due = self.agenda.next_due(after, &self.tree)?;
        Ok(due.into_iter().chain(self.leases.next_end(after)).min())
    }
}

/// The whole history, if all of it stands with the header.
fn at_hand(execution: &Execution, length: Sequence) -> Option<Vec<Event>> {
    let mut events = vec![execution.started.clone()?];
    if let Some(latest) = &execution.latest {
        if latest.first != Sequence(1) {
            return None;
        }
        events.extend(latest.events.iter().cloned());
    }
    (events.len() as u64 == length.0).then_some(events)
}
