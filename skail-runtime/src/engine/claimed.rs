//! From a claim to a running function: reads the history, takes in the inbox, starts the driver.

use std::sync::Arc;

use super::driver::{Driver, Parts};
use super::reach::reach;
use super::recorder::{Along, Recorder, Stop, running};
use super::shared::Shared;
use crate::clock::WorkGuard;
use crate::history::{AcceptedArguments, Event, Replay, Status};
use crate::ids::{ExecutionId, Sequence};
use crate::store::{Claim, Message, StoreError};

/// How many events or messages are read at a time.
const PAGE: usize = 512;

/// Works on a claimed execution until it is at rest, waits for long, or must be let go.
///
/// `working` holds a virtual clock still whenever there is anything to do.
pub(super) async fn work(
    shared: &Arc<Shared>,
    mut claim: Claim,
    working: &mut Option<WorkGuard>,
) -> Result<(), Stop> {
    let id = claim.header.id.clone();
    let mut replay = match claim.history.take() {
        Some(events) => read(&id, Replay::default(), events)?,
        None => read_history(shared, &id).await?,
    };
    let mut recorder = Recorder::new(Arc::clone(shared), claim.lease.clone(), replay.length());
    if claim.mail || replay.status() != Some(Status::Running) {
        take_in_mail(shared, &mut recorder, &mut replay).await?;
    }
    if replay.status() != Some(Status::Running) {
        return recorder.release().await;
    }
    let damaged = |reason: &str| {
        Stop::Broken(StoreError::Damaged {
            execution: id.clone(),
            what: "the history".to_owned(),
            reason: reason.to_owned(),
        })
    };
    let (name, arguments) = replay
        .started()
        .ok_or_else(|| damaged("it does not begin with the start"))?;
    let Some(function) = shared.registry.function(name) else {
        // The store gives out registered functions only, so header and history disagree.
        return Err(damaged("its function is not the one that the header names"));
    };
    let arguments = arguments.clone();
    let header = &claim.header;
    let returned = replay.length() > Sequence(1) || header.updated_at != header.created_at;
    // The driver is large; it is built once per claim and lives on the heap.
    let parts = Parts {
        function,
        recorder,
        replay,
        arguments,
        suspect: claim.suspect,
        returned,
    };
    let driver = Driver::new(shared, parts, working);
    Box::pin(driver.run()).await
}

async fn read_history(shared: &Shared, id: &ExecutionId) -> Result<Replay, Stop> {
    let mut replay = Replay::default();
    loop {
        let from = replay.length();
        let events = reach(shared, || shared.store.history(id, from, PAGE)).await?;
        let whole = events.len() < PAGE;
        replay = read(id, replay, events)?;
        if whole {
            return Ok(replay);
        }
    }
}

/// Takes further events of a history in.
fn read(id: &ExecutionId, mut replay: Replay, events: Vec<Event>) -> Result<Replay, Stop> {
    for event in events {
        replay.push(event).map_err(|error| {
            Stop::Broken(StoreError::Damaged {
                execution: id.clone(),
                what: format!("event {} of the history", error.sequence),
                reason: error.to_string(),
            })
        })?;
    }
    Ok(replay)
}

/// Takes the messages in. A resume lets an execution at rest go on; for one that runs it means nothing.
async fn take_in_mail(
    shared: &Shared,
    recorder: &mut Recorder,
    replay: &mut Replay,
) -> Result<(), Stop> {
    let id = recorder.lease().execution.clone();
    let messages = reach(shared, || shared.store.inbox(&id, PAGE)).await?;
    recorder.consume(messages.iter().map(|(message, _)| *message));
    let accepted: Vec<AcceptedArguments> = messages
        .iter()
        .filter_map(|(_, message)| match message {
            Message::Resume {
                accept_changed_arguments,
            } => accept_changed_arguments.clone(),
        })
        .collect();
    let at_rest = matches!(replay.status(), Some(Status::Failed | Status::Blocked));
    if !at_rest || messages.is_empty() {
        return Ok(());
    }
    let at = shared.clock.now();
    let event = Event::Resumed { at, accepted };
    let along = Along {
        header: Some(running(at)),
        release: false,
    };
    recorder.commit(vec![event.clone()], along).await?;
    replay.push(event).map_err(|error| {
        Stop::Broken(StoreError::Contradiction {
            execution: id,
            reason: error.to_string(),
        })
    })
}
