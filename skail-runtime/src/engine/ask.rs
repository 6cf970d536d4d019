//! The way of one call to its outcome: it claims its position at its first poll, waits, and is forgotten
//! when it is dropped before its end.
//!
//! Owns what all calls have in common. Must never know what a step is for.

use std::sync::Arc;
use std::task::{Context, Poll};

use super::context::{Current, current};
use super::frame::Frame;
use crate::history::Outcome;
use crate::ids::Position;

/// See the module. `N` is what is known of the call before it is a step.
#[derive(Debug)]
pub(super) struct Ask<N>(State<N>);

#[derive(Debug)]
enum State<N> {
    /// Not polled yet.
    New(N),
    /// A step of this frame.
    Claimed {
        frame: Arc<Frame>,
        position: Position,
    },
    /// Its outcome was given.
    Done,
}

/// The outcome of a step.
pub(super) struct Given {
    pub(super) frame: Arc<Frame>,
    pub(super) position: Position,
    pub(super) outcome: Outcome,
}

/// Where a call was polled that can be polled in its function only.
#[derive(Debug, Clone, Copy)]
pub(super) enum Elsewhere {
    /// In the body of a command.
    InCommand,
    /// In no execution at all.
    Outside,
    /// In another run or another execution than the one that it is a step of.
    InAnother,
}

/// The function whose code is running.
pub(super) fn here() -> Result<Arc<Frame>, Elsewhere> {
    match current() {
        Some(Current::Function(frame)) => Ok(frame),
        Some(Current::Command(_)) => Err(Elsewhere::InCommand),
        None => Err(Elsewhere::Outside),
    }
}

impl<N> Ask<N> {
    pub(super) fn new(new: N) -> Self {
        Self(State::New(new))
    }

    /// What is known of it, until it is a step.
    pub(super) fn unasked(&mut self) -> Option<&mut N> {
        match &mut self.0 {
            State::New(new) => Some(new),
            State::Claimed { .. } | State::Done => None,
        }
    }

    /// Its outcome, once it was delivered. `claim` makes it a step.
    ///
    /// # Panics
    /// When it is polled after its end, as every future may; a function's panic is caught.
    pub(super) fn poll(
        &mut self,
        cx: &Context<'_>,
        claim: impl FnOnce(&Frame, N) -> Position,
    ) -> Poll<Result<Given, Elsewhere>> {
        let here = match here() {
            Ok(here) => here,
            Err(elsewhere) => {
                self.forget();
                return Poll::Ready(Err(elsewhere));
            }
        };
        let (frame, position) = match std::mem::replace(&mut self.0, State::Done) {
            State::New(new) => {
                let position = claim(&here, new);
                (here, position)
            }
            State::Claimed { frame, position } => {
                if !Arc::ptr_eq(&frame, &here) {
                    frame.forget(position);
                    return Poll::Ready(Err(Elsewhere::InAnother));
                }
                (frame, position)
            }
            State::Done => unreachable!("a call was polled after its end"),
        };
        match frame.poll(position, cx.waker()) {
            Poll::Ready(outcome) => Poll::Ready(Ok(Given {
                frame,
                position,
                outcome,
            })),
            Poll::Pending => {
                self.0 = State::Claimed { frame, position };
                Poll::Pending
            }
        }
    }

    /// How far it is, for people.
    pub(super) fn progress(&self) -> String {
        match &self.0 {
            State::New(_) => "not awaited yet".to_owned(),
            State::Claimed { position, .. } => format!("waiting at position {position}"),
            State::Done => "done".to_owned(),
        }
    }

    fn forget(&mut self) {
        if let State::Claimed { frame, position } = std::mem::replace(&mut self.0, State::Done) {
            frame.forget(position);
        }
    }
}

impl<N> Drop for Ask<N> {
    fn drop(&mut self) {
        self.forget();
    }
}
