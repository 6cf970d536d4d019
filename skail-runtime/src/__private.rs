//! The whole surface that generated code talks to. Not for people: it changes without notice.
#![doc(hidden)]
#![allow(missing_docs, reason = "read the expansion in ARCHITECTURE.md instead")]

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use inventory;
pub use std::time::Duration;
pub use std::{file, format, line, module_path};

pub use crate::codec::Payload;
pub use crate::descriptor::{
    Body, BodyFuture, BodyResult, CommandDescriptor, CommandPolicy, FunctionDescriptor,
    FunctionPolicy, Register, Registration, Site,
};
pub use crate::engine::{Arguments, Input};
pub use crate::retry::{Backoff, Jitter};
pub use crate::state::StateKey;

use crate::codec::{PayloadError, PayloadWriter};
use crate::engine::{CommandCall, FunctionCall};
use crate::error::BodyError;

/// What an annotated function returns.
#[diagnostic::on_unimplemented(
    message = "an annotated function must return a `Result`, not `{Self}`",
    label = "this is no `Result`",
    note = "write `anyhow::Result<T>` or `Result<T, E>`: Skail records what `Ok` holds and tries again on `Err`"
)]
pub trait Outcome {
    type Value;
    type Error;
    fn into_result(self) -> Result<Self::Value, Self::Error>;
}

impl<T, E> Outcome for Result<T, E> {
    type Value = T;
    type Error = E;
    fn into_result(self) -> Self {
        self
    }
}

/// What can be recorded and read back.
#[diagnostic::on_unimplemented(
    message = "Skail cannot record a `{Self}`",
    label = "this type cannot be recorded",
    note = "parameters and results go into the history: derive `serde::Serialize` and `serde::Deserialize`, own the data (`String`, not `&str`), keep it `Send`"
)]
pub trait Recordable: Serialize + DeserializeOwned + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + 'static> Recordable for T {}

/// What may stand in `Err`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of an annotated function",
    label = "this is not an error that Skail can record",
    note = "use `anyhow::Error`, or a type that implements `std::error::Error + Send + Sync + 'static` (with `thiserror`, for instance)"
)]
pub trait UserError: Sized {
    fn into_anyhow(self) -> anyhow::Error;
}

#[diagnostic::do_not_recommend]
impl<E: Into<anyhow::Error>> UserError for E {
    fn into_anyhow(self) -> anyhow::Error {
        self.into()
    }
}

/// Shared values that `#[state]` lends.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shared state",
    label = "this type cannot be shared between threads",
    note = "a `#[state]` value is lent to many bodies at once: it must be `Send + Sync + 'static`"
)]
pub trait SharedState: Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> SharedState for T {}

pub type ErrorEncoder<E> = fn(&E) -> Option<Payload>;

/// Finds out whether an error type can be recorded itself: `(&ErrorProbe::<E>::new()).encoder()` with
/// both traits in scope picks `TypedError` where it applies.
#[derive(Debug)]
pub struct ErrorProbe<E>(PhantomData<fn(E)>);

impl<E> ErrorProbe<E> {
    #[must_use]
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

pub trait TypedError<E> {
    fn encoder(&self) -> Option<ErrorEncoder<E>>;
}

impl<E: Serialize + DeserializeOwned> TypedError<E> for ErrorProbe<E> {
    fn encoder(&self) -> Option<ErrorEncoder<E>> {
        Some(|error| Payload::encode(error).ok())
    }
}

pub trait UntypedError<E> {
    fn encoder(&self) -> Option<ErrorEncoder<E>>;
}

impl<E> UntypedError<E> for &ErrorProbe<E> {
    fn encoder(&self) -> Option<ErrorEncoder<E>> {
        None
    }
}

/// The arguments of a call on their way into its record.
#[derive(Debug)]
pub struct CallArguments {
    writer: PayloadWriter,
    error: Option<(&'static str, PayloadError)>,
}

impl CallArguments {
    #[must_use]
    pub fn new(count: u32) -> Self {
        Self {
            writer: PayloadWriter::array(count),
            error: None,
        }
    }

    /// Adds the argument of one parameter. The first that cannot be recorded is kept and told at the
    /// `.await`, where there is somebody to tell.
    pub fn push<T: Recordable>(&mut self, parameter: &'static str, value: &T) {
        if self.error.is_none()
            && let Err(error) = self.writer.value(value)
        {
            self.error = Some((parameter, error));
        }
    }

    pub(crate) fn finish(self) -> Result<Payload, (&'static str, PayloadError)> {
        match self.error {
            None => Ok(self.writer.finish()),
            Some(error) => Err(error),
        }
    }
}

/// The call of a command, made by its constructor.
pub fn command_call<T>(
    descriptor: &'static CommandDescriptor,
    arguments: CallArguments,
) -> CommandCall<T> {
    CommandCall::new(descriptor, arguments)
}

/// The call of a function, made by its constructor.
pub fn function_call<T>(
    descriptor: &'static FunctionDescriptor,
    arguments: CallArguments,
) -> FunctionCall<T> {
    FunctionCall::new(descriptor, arguments)
}

/// Demands `Send` at the place where the body is named, so that the error shows what is held.
pub fn require_send<F: Future + Send>(future: F) -> F {
    future
}

/// One recorded parameter. Making it is the only place that demands that its type can be recorded; both
/// directions then come from here, so that a type that can't be is one error and not two.
#[derive(Debug)]
pub struct Parameter<T> {
    name: &'static str,
    write: fn(&mut CallArguments, &'static str, &T),
    read: fn(&mut Arguments<'_>, &'static str) -> Result<T, BodyError>,
}

#[must_use]
pub const fn parameter<T: Recordable>(name: &'static str) -> Parameter<T> {
    Parameter {
        name,
        write: CallArguments::push::<T>,
        read: |arguments, name| arguments.next(name),
    }
}

impl<T> Parameter<T> {
    /// Takes the argument by value, as the constructor does: a lint would ask the user for a borrow.
    #[allow(clippy::needless_pass_by_value)]
    pub fn write(&self, arguments: &mut CallArguments, value: T) {
        (self.write)(arguments, self.name, &value);
    }

    pub fn read(&self, arguments: &mut Arguments<'_>) -> Result<T, BodyError> {
        (self.read)(arguments, self.name)
    }
}

/// The key of a `#[state]` type; the only place that demands that it can be shared.
#[must_use]
pub fn state_key<T: SharedState>() -> StateKey {
    StateKey::of::<T>()
}

/// Demands `Send` of a running body.
pub fn boxed<F: Future<Output = BodyResult> + Send + 'static>(future: F) -> BodyFuture {
    Box::pin(future)
}
