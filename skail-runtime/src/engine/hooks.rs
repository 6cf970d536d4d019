//! Where a test reaches into the running of bodies: what runs in a body's place, and when its end comes.
//!
//! Owns the interface only; who implements it is the test kit, and in a program nobody does. Must never
//! let a test see or change more than a real command could have done.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::context::AttemptContext;
use super::input::Input;
use super::shared::Shared;
use crate::clock::WorkGuard;
use crate::codec::Payload;
use crate::descriptor::{BodyFuture, CommandDescriptor};
use crate::ids::Position;

/// What runs in the place of a command's body.
pub(crate) type Substitute = Arc<dyn Fn(Input) -> BodyFuture + Send + Sync>;

/// See the module.
pub(crate) trait Hooks: fmt::Debug + Send + Sync {
    /// A body is about to run on these arguments. What is given runs in its place.
    fn begins(
        &self,
        command: &'static CommandDescriptor,
        arguments: &Payload,
    ) -> Option<Substitute>;

    /// How much later than the body the end of this attempt comes, on the engine's clock.
    fn lag(&self, position: Position, attempt: u32) -> Duration;
}

impl Shared {
    /// What runs in the place of this command's body, if something does.
    pub(super) fn substitute(
        &self,
        command: &'static CommandDescriptor,
        arguments: &Payload,
    ) -> Option<Substitute> {
        self.hooks.as_ref()?.begins(command, arguments)
    }

    /// Holds the end of an attempt back as long as a test wants. A virtual clock is let go meanwhile.
    pub(super) async fn lag(&self, context: &AttemptContext, working: WorkGuard) -> WorkGuard {
        let lag = self.hooks.as_ref().map_or(Duration::ZERO, |hooks| {
            hooks.lag(context.position, context.attempt.number)
        });
        if lag.is_zero() {
            return working;
        }
        let wait = self.clock.sleep_until(self.clock.now().saturating_add(lag));
        drop(working);
        wait.await;
        self.clock.working()
    }
}
