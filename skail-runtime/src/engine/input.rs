//! What a body is given, and how what it is called with and what it returns become a record.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::codec::{Payload, PayloadError, PayloadReader, PayloadWriter, encode_surviving};
use crate::descriptor::BodyResult;
use crate::error::{Advice, BodyError, Failure};
use crate::state::StateMap;

use super::context;

/// Arguments and shared state of one run of a body.
#[derive(Debug, Clone)]
pub struct Input {
    state: Arc<StateMap>,
    arguments: Payload,
    payload_limit: usize,
}

impl Input {
    pub(crate) fn new(state: Arc<StateMap>, arguments: Payload, payload_limit: usize) -> Self {
        Self {
            state,
            arguments,
            payload_limit,
        }
    }

    /// The recorded arguments, to be read one by one.
    pub fn arguments(&self) -> Result<Arguments<'_>, BodyError> {
        let mut reader = PayloadReader::new(self.arguments.as_bytes());
        reader.array().map_err(|error| BodyError::Arguments {
            parameter: "(all)",
            error,
        })?;
        Ok(Arguments { reader })
    }

    /// The shared value of type `T`.
    ///
    /// # Panics
    /// Never: `start()` refuses a registration whose state is missing.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> &T {
        self.state
            .get()
            .expect("start() refuses a registration whose state is missing")
    }

    /// Sets the key that `idempotency_key()` gives during this body.
    pub fn set_idempotency_key(&self, key: String) {
        context::set_business_key(key);
    }

    /// Turns what the body returned into what is recorded; `typed` is its error, recorded already, and
    /// `advice` what the error's type says, which goes before what its sources say.
    pub fn finish<T: Serialize + DeserializeOwned>(
        &self,
        outcome: Result<T, anyhow::Error>,
        typed: Option<Payload>,
        advice: Advice,
    ) -> BodyResult {
        match outcome {
            Ok(value) => encode_surviving(&value, self.payload_limit).map_err(BodyError::Result),
            Err(error) => {
                let advice = match advice {
                    Advice::Usual => Advice::of(&error),
                    said => said,
                };
                Err(BodyError::User(Failure::from_error(&error, typed, advice)))
            }
        }
    }
}

/// Reads the recorded arguments in order.
#[derive(Debug)]
pub struct Arguments<'a> {
    reader: PayloadReader<'a>,
}

impl Arguments<'_> {
    /// The next argument, for the parameter of this name.
    pub fn next<T: DeserializeOwned>(&mut self, parameter: &'static str) -> Result<T, BodyError> {
        self.reader
            .value()
            .map_err(|error| BodyError::Arguments { parameter, error })
    }

    /// Demands that no argument is left over.
    pub fn end(self) -> Result<(), BodyError> {
        self.reader
            .end::<()>()
            .map_err(|error| BodyError::Arguments {
                parameter: "(after the last)",
                error,
            })
    }
}

/// The arguments of a call on their way into its record.
#[derive(Debug)]
pub struct CallArguments {
    writer: PayloadWriter,
    error: Option<(&'static str, PayloadError)>,
}

impl CallArguments {
    /// An empty list that will get `count` arguments.
    #[must_use]
    pub fn new(count: u32) -> Self {
        Self {
            writer: PayloadWriter::array(count),
            error: None,
        }
    }

    /// Adds the argument of one parameter. The first that cannot be recorded is kept and told at the
    /// `.await`, where there is somebody to tell.
    pub fn push<T: Serialize + DeserializeOwned>(&mut self, parameter: &'static str, value: &T) {
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
