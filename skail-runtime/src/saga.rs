//! Undoing what was done, when the rest cannot be done.
//!
//! Owns the list of compensations and the order in which they run. It is made of steps and nothing else:
//! the history holds what was compensated, and a function that runs again comes to the same list. Must
//! never keep anything beside that.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use serde::de::DeserializeOwned;

use crate::engine::{CommandCall, Repeatable};
use crate::error::CommandError;
use crate::retry::permanent;

/// The compensations of what a function has done so far.
///
/// Each step that can be undone is [run](Self::run) with the call that undoes it. If the rest cannot be
/// done, [`compensate`](Self::compensate) undoes everything, the newest first; [`Saga::scope`] does that
/// by itself on an `Err`.
///
/// ```
/// use skail_runtime::prelude::*;
///
/// # #[skail_command] async fn book_flight(trip: u32) -> anyhow::Result<String> { Ok(trip.to_string()) }
/// # #[skail_command] async fn cancel_flight(trip: u32) -> anyhow::Result<()> { let _ = trip; Ok(()) }
/// # #[skail_command] async fn book_hotel(trip: u32) -> anyhow::Result<String> { Ok(trip.to_string()) }
/// # #[skail_command] async fn cancel_hotel(trip: u32) -> anyhow::Result<()> { let _ = trip; Ok(()) }
/// #[skail_function]
/// async fn book_trip(trip: u32) -> anyhow::Result<(String, String)> {
///     Saga::scope(async |saga| {
///         let flight = saga.run(book_flight(trip).compensate_by(cancel_flight(trip))).await?;
///         // If there is no hotel, the flight is cancelled.
///         let hotel = saga.run(book_hotel(trip).compensate_by(cancel_hotel(trip))).await?;
///         Ok((flight, hotel))
///     })
///     .await
/// }
/// ```
///
/// What a compensation undoes may not have happened: the step may have failed before its effect, or after
/// it. So write compensations that are content when there is nothing to undo, and make them commands with
/// a high `retry_count`.
#[derive(Default)]
pub struct Saga {
    undo: Mutex<Vec<Box<dyn Undo>>>,
}

/// A command call together with the one that undoes it; made by [`CommandCall::compensate_by`] and run
/// by [`Saga::run`].
#[must_use = "nothing runs until it is given to `saga.run(…)`"]
pub struct Compensated<T> {
    call: CommandCall<T>,
    undo: Box<dyn Undo>,
}

/// A call that can be made as often as need be.
trait Undo: Send {
    fn command(&self) -> &'static str;
    fn call(&self) -> Pin<Box<dyn Future<Output = Result<(), CommandError>> + Send>>;
}

impl<T: DeserializeOwned + 'static> Undo for Repeatable<T> {
    fn command(&self) -> &'static str {
        self.command()
    }

    fn call(&self) -> Pin<Box<dyn Future<Output = Result<(), CommandError>> + Send>> {
        let call = self.call();
        Box::pin(async move { call.await.map(drop) })
    }
}

impl<T> CommandCall<T> {
    /// Says which call undoes this one, for [`Saga::run`].
    ///
    /// # Panics
    /// If `compensation` was polled before.
    pub fn compensate_by<C: DeserializeOwned + 'static>(
        self,
        compensation: CommandCall<C>,
    ) -> Compensated<T> {
        Compensated {
            call: self,
            undo: Box::new(compensation.repeatable()),
        }
    }
}

impl Saga {
    /// A saga in which nothing was done yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs a step, and remembers how to undo it: before it runs, since its effect can be there without
    /// its result.
    ///
    /// Steps can run together, with `join!` for instance: they count as done in the order in which they
    /// began.
    ///
    /// # Errors
    /// The command's. Nothing is undone by that alone.
    pub async fn run<T: DeserializeOwned>(&self, step: Compensated<T>) -> Result<T, CommandError> {
        self.lock().push(step.undo);
        step.call.await
    }

    /// Undoes everything that was run so far, the newest first, one after the other.
    ///
    /// Each compensation has its own retries, and one that fails for good does not keep the others from
    /// running. Those that failed are tried once more at the end, all together. What then is left is the
    /// error; a function that passes it on is redelivered, or fails and can be resumed, and then tries
    /// just these again.
    ///
    /// After it the saga is empty, whatever came of it.
    ///
    /// # Errors
    /// [`SagaError`] with every compensation that is left undone.
    pub async fn compensate(&self) -> Result<(), SagaError> {
        let mut failed = Vec::new();
        let mut last_failed = false;
        while let Some(undo) = self.take_newest() {
            let undone = undo.call().await;
            last_failed = undone.is_err();
            if let Err(error) = undone {
                failed.push((undo, error));
            }
        }
        // A failure that other steps followed stays in the history for good, and only one that nothing
        // followed is tried afresh when the function runs again. So let these be the last steps.
        if failed.len() > usize::from(last_failed) {
            failed = again(failed).await;
        }
        if failed.is_empty() {
            return Ok(());
        }
        let undone = failed.into_iter().map(|(undo, error)| Undone {
            command: undo.command(),
            error,
        });
        Err(SagaError {
            undone: undone.collect(),
            because: None,
        })
    }

    /// Runs `body` with a new saga, and undoes what it did if it returns an `Err`.
    ///
    /// The `Err` comes back once everything is undone, and as one that no other attempt of the function
    /// can change ([`permanent`](crate::permanent)): its steps are recorded, and so is their undoing. If
    /// there was nothing to undo, it comes back as it is.
    ///
    /// # Errors
    /// That of `body`; or [`SagaError`] if something is left undone, which says both.
    pub async fn scope<T>(body: impl AsyncFnOnce(&Self) -> anyhow::Result<T>) -> anyhow::Result<T> {
        let saga = Self::new();
        let error = match body(&saga).await {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        if saga.lock().is_empty() {
            // Nothing was built on it: the function may be tried again.
            return Err(error);
        }
        match saga.compensate().await {
            Ok(()) => Err(permanent(error)),
            Err(undone) => Err(SagaError {
                because: Some(format!("{error:#}")),
                ..undone
            }
            .into()),
        }
    }

    fn take_newest(&self) -> Option<Box<dyn Undo>> {
        self.lock().pop()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Box<dyn Undo>>> {
        self.undo.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A compensation and what it failed with.
type Failed = (Box<dyn Undo>, CommandError);

/// Tries all of them again, at the same time; gives those that failed again.
async fn again(failed: Vec<Failed>) -> Vec<Failed> {
    let mut calls: Vec<_> = failed.iter().map(|(undo, _)| Some(undo.call())).collect();
    let mut errors: Vec<Option<CommandError>> = failed.iter().map(|_| None).collect();
    poll_fn(|cx| {
        let mut waiting = false;
        for (slot, error) in calls.iter_mut().zip(&mut errors) {
            let Some(call) = slot else { continue };
            match call.as_mut().poll(cx) {
                Poll::Pending => waiting = true,
                Poll::Ready(result) => {
                    *slot = None;
                    *error = result.err();
                }
            }
        }
        if waiting {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
    let undos = failed.into_iter().map(|(undo, _)| undo);
    let failed = undos.zip(errors);
    failed
        .filter_map(|(undo, error)| Some((undo, error?)))
        .collect()
}

/// Compensations that are left undone.
#[derive(Debug)]
pub struct SagaError {
    undone: Vec<Undone>,
    because: Option<String>,
}

/// One compensation that failed for good.
#[derive(Debug)]
pub struct Undone {
    command: &'static str,
    error: CommandError,
}

impl Undone {
    /// The recorded name of the compensation.
    #[must_use]
    pub fn command(&self) -> &str {
        self.command
    }

    /// What it failed with the last time.
    #[must_use]
    pub fn error(&self) -> &CommandError {
        &self.error
    }
}

impl SagaError {
    /// What is left undone, in the order in which it was tried.
    #[must_use]
    pub fn undone(&self) -> &[Undone] {
        &self.undone
    }

    /// The error because of which it was to be undone, where [`Saga::scope`] knows it.
    #[must_use]
    pub fn because(&self) -> Option<&str> {
        self.because.as_deref()
    }
}

impl fmt::Display for SagaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(because) = &self.because {
            write!(f, "after `{because}` ")?;
        }
        match &self.undone[..] {
            [_] => f.write_str("one compensation is left undone: ")?,
            undone => write!(f, "{} compensations are left undone: ", undone.len())?,
        }
        for (index, undone) in self.undone.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{}", undone.error)?;
        }
        f.write_str(". Once their cause is gone, resume the execution: just these are tried again")
    }
}

impl std::error::Error for SagaError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let first = self.undone.first()?;
        Some(&first.error)
    }
}

impl fmt::Debug for Saga {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let undo = self.lock();
        let commands = undo.iter().map(|undo| undo.command());
        f.debug_list().entries(commands).finish()
    }
}

impl<T> fmt::Debug for Compensated<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} compensated by `{}`",
            self.call,
            self.undo.command()
        )
    }
}
