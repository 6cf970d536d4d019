//! What a call is before and while it is awaited.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::__private::CallArguments;
use crate::codec::{Payload, PayloadError};
use crate::descriptor::{CommandDescriptor, FunctionDescriptor};
use crate::error::CommandError;

/// placeholder
#[must_use = "a command does nothing until it is awaited: write `.await`"]
#[derive(Debug)]
pub struct CommandCall<T> {
    descriptor: &'static CommandDescriptor,
    arguments: Result<Payload, (&'static str, PayloadError)>,
    result: PhantomData<fn() -> T>,
}

impl<T> CommandCall<T> {
    pub(crate) fn new(descriptor: &'static CommandDescriptor, arguments: CallArguments) -> Self {
        Self {
            descriptor,
            arguments: arguments.finish(),
            result: PhantomData,
        }
    }
}

impl<T> Future for CommandCall<T> {
    type Output = Result<T, CommandError>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let _ = (self.descriptor, &self.arguments);
        Poll::Pending
    }
}

/// placeholder
#[must_use = "a function does nothing until it is started: `skail.start(…)`"]
#[derive(Debug)]
pub struct FunctionCall<T> {
    descriptor: &'static FunctionDescriptor,
    arguments: Result<Payload, (&'static str, PayloadError)>,
    result: PhantomData<fn() -> T>,
}

impl<T> FunctionCall<T> {
    pub(crate) fn new(descriptor: &'static FunctionDescriptor, arguments: CallArguments) -> Self {
        Self {
            descriptor,
            arguments: arguments.finish(),
            result: PhantomData,
        }
    }
}
