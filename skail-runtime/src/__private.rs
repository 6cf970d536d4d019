//! The whole surface that generated code talks to. Not for people: it changes without notice.
#![doc(hidden)]
#![allow(missing_docs, reason = "read the expansion in ARCHITECTURE.md instead")]

use std::cell::Cell;
use std::fmt;
use std::panic::Location;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use inventory;
pub use std::time::Duration;
pub use std::{format, module_path};

pub use crate::codec::Payload;
pub use crate::descriptor::{
    Body, BodyFuture, BodyResult, Command, CommandDescriptor, CommandPolicy, FunctionDescriptor,
    FunctionPolicy, Register, Registration, Site,
};
pub use crate::engine::{Arguments, CallArguments, Input};
pub use crate::error::BodyError;
pub use crate::retry::{Backoff, Jitter};
pub use crate::state::StateKey;

use crate::codec::encode_surviving;
use crate::engine::{CommandCall, FunctionCall};
use crate::error::{Advice, MAX_TYPED_BYTES};
use crate::retry::RetryAdvice;

/// What an annotated function returns.
#[diagnostic::on_unimplemented(
    message = "a command or function must return a `Result`, not `{Self}`",
    label = "this is no `Result`",
    note = "write `anyhow::Result<T>` or `Result<T, E>`: Skail records what `Ok` holds and tries again on `Err`"
)]
pub trait Outcome {
    type Value;
    type Error;
}

#[diagnostic::do_not_recommend]
impl<T, E> Outcome for Result<T, E> {
    type Value = T;
    type Error = E;
}

/// What can be recorded and read back.
#[diagnostic::on_unimplemented(
    message = "Skail cannot record the type `{Self}`",
    label = "this type cannot be recorded",
    note = "parameters and results go into the history: derive `serde::Serialize` and `serde::Deserialize`, own the data (`String`, not `&str`), keep it `Send`"
)]
pub trait Recordable: Serialize + DeserializeOwned + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + 'static> Recordable for T {}

/// What may stand in `Err`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a command or function",
    label = "this error cannot be recorded",
    note = "use `anyhow::Error`, or a type that implements `std::error::Error + Send + Sync + 'static` (with `thiserror`, for instance)",
    note = "others are turned into one where they arise: `.map_err(anyhow::Error::from_boxed)` for a boxed error, `.map_err(anyhow::Error::msg)` for a text"
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

/// One `#[state]` parameter: the only place that demands that its type can be shared.
#[derive(Debug)]
pub struct State<T> {
    pub key: fn() -> StateKey,
    lend: for<'a> fn(&'a Input) -> &'a T,
}

#[must_use]
pub const fn state<T: SharedState>() -> State<T> {
    State {
        key: StateKey::of::<T>,
        lend: Input::state::<T>,
    }
}

impl<T> State<T> {
    #[must_use]
    pub fn lend<'a>(&self, input: &'a Input) -> &'a T {
        (self.lend)(input)
    }
}

/// How a body ends: the only place that demands that its value can be recorded and that its error is one.
#[derive(Debug)]
pub struct Ending<T, E> {
    finish: fn(&Input, Result<T, E>, Option<Payload>, Advice) -> BodyResult,
}

/// The ending of a body that returns `R`.
pub type EndingOf<R> = Ending<<R as Outcome>::Value, <R as Outcome>::Error>;

#[must_use]
pub const fn ending<T: Recordable, E: UserError>() -> Ending<T, E> {
    Ending {
        finish: |input, outcome, typed, advice| {
            input.finish(outcome.map_err(UserError::into_anyhow), typed, advice)
        },
    }
}

/// What a body returned, on its way into the record.
///
/// With the five traits in scope, `(&&&&Returned::new(r)).finish(…)` picks the first of them that
/// applies. Method lookup goes by the receiver: first what takes `&&&&Returned` as it is, which is an
/// implementation for `&&&Returned`; then with one more `&`, one for `&&&&Returned`; then with fewer and
/// fewer.
#[allow(missing_debug_implementations)]
pub struct Returned<R>(Cell<Option<R>>);

impl<R> Returned<R> {
    pub const fn new(returned: R) -> Self {
        Self(Cell::new(Some(returned)))
    }
}

impl<T, E> Returned<Result<T, E>> {
    fn end(
        &self,
        ending: &Ending<T, E>,
        input: &Input,
        typed: impl FnOnce(&E) -> Option<Payload>,
        advice: impl FnOnce(&E) -> Advice,
    ) -> BodyResult {
        let outcome = self.0.take().expect("a body returns once");
        let error = outcome.as_ref().err();
        let (typed, advice) = (error.and_then(typed), error.map(advice));
        (ending.finish)(input, outcome, typed, advice.unwrap_or_default())
    }
}

/// An error that is recorded itself, beside its text.
fn recorded<E: Serialize + DeserializeOwned>(error: &E) -> Option<Payload> {
    encode_surviving(error, MAX_TYPED_BYTES).ok()
}

/// An error that is recorded itself and says whether another attempt can help.
pub trait FinishTypedAdvised<T, E> {
    fn finish(&self, ending: &Ending<T, E>, input: &Input) -> BodyResult;
}

impl<T, E> FinishTypedAdvised<T, E> for &&&Returned<Result<T, E>>
where
    E: Serialize + DeserializeOwned + RetryAdvice,
{
    fn finish(&self, ending: &Ending<T, E>, input: &Input) -> BodyResult {
        self.end(ending, input, recorded, E::advice)
    }
}

/// An error that says whether another attempt can help.
pub trait FinishAdvised<T, E> {
    fn finish(&self, ending: &Ending<T, E>, input: &Input) -> BodyResult;
}

impl<T, E: RetryAdvice> FinishAdvised<T, E> for &&&&Returned<Result<T, E>> {
    fn finish(&self, ending: &Ending<T, E>, input: &Input) -> BodyResult {
        self.end(ending, input, |_| None, E::advice)
    }
}

/// An error that is recorded itself.
pub trait FinishTyped<T, E> {
    fn finish(&self, ending: &Ending<T, E>, input: &Input) -> BodyResult;
}

impl<T, E: Serialize + DeserializeOwned> FinishTyped<T, E> for &&Returned<Result<T, E>> {
    fn finish(&self, ending: &Ending<T, E>, input: &Input) -> BodyResult {
        self.end(ending, input, recorded, |_| Advice::Usual)
    }
}

/// An error of which only the text is recorded.
pub trait FinishUntyped<T, E> {
    fn finish(&self, ending: &Ending<T, E>, input: &Input) -> BodyResult;
}

impl<T, E> FinishUntyped<T, E> for &Returned<Result<T, E>> {
    fn finish(&self, ending: &Ending<T, E>, input: &Input) -> BodyResult {
        self.end(ending, input, |_| None, |_| Advice::Usual)
    }
}

/// No `Result` at all: refused already, by [`Outcome`]. This is here so that it is refused only once.
pub trait FinishRefused {
    fn finish<X>(&self, ending: &X, input: &Input) -> BodyResult;
}

impl<R> FinishRefused for Returned<R> {
    fn finish<X>(&self, _: &X, _: &Input) -> BodyResult {
        unreachable!("the compiler refused what is no `Result`")
    }
}

/// What a placeholder of an idempotency key can stand for.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of an idempotency key",
    label = "this key has a placeholder for it",
    note = "a placeholder is written out with `Display`: implement that, or take the text as a parameter of its own"
)]
pub trait KeyPart: fmt::Display {}

#[diagnostic::do_not_recommend]
impl<T: fmt::Display> KeyPart for T {}

pub fn key_part<T: KeyPart>(value: &T) -> &dyn fmt::Display {
    value
}

/// The five traits, for a glob: which of them it is goes by method lookup.
pub mod finish {
    pub use super::{FinishAdvised, FinishRefused, FinishTyped, FinishTypedAdvised, FinishUntyped};
}

/// Where the caller stands.
#[must_use]
#[track_caller]
pub const fn site(module: &'static str) -> Site {
    let place = Location::caller();
    Site {
        module,
        file: place.file(),
        line: place.line(),
    }
}

/// Demands `Send` of a running body.
pub fn boxed<F: Future<Output = BodyResult> + Send + 'static>(future: F) -> BodyFuture {
    Box::pin(future)
}
