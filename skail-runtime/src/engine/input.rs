//! What a body is given, and how what it returns becomes a record.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::__private::{Recordable, UserError};
use crate::codec::{Payload, PayloadReader, encode_surviving};
use crate::descriptor::BodyResult;
use crate::error::{BodyError, Failure};
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

    /// Turns what the body returned into what is recorded; `typed` is its error, recorded already.
    pub fn finish<T: Recordable, E: UserError>(
        &self,
        outcome: Result<T, E>,
        typed: Option<Payload>,
    ) -> BodyResult {
        match outcome {
            Ok(value) => encode_surviving(&value, self.payload_limit).map_err(BodyError::Result),
            Err(error) => Err(BodyError::User(Failure::from_error(
                &error.into_anyhow(),
                typed,
            ))),
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
