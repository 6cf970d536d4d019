//! Whether what a page shows has changed: a text that is another one then.
//!
//! Owns what is compared. Must never hold more than the text from one look to the next.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use serde::de::IgnoredAny;
use skail_runtime::store::Search;
use skail_runtime::{ExecutionError, Skail};

use crate::length::length;
use crate::search::word;

/// What a page shows.
#[derive(Debug)]
pub(crate) enum Shown {
    /// Counts and dependencies.
    Overview,
    /// What a search finds, and the counts.
    List(Box<Search>),
    /// One execution.
    Execution {
        /// Which.
        id: String,
        /// How many events it had at the last look.
        events: u64,
    },
}

impl Shown {
    /// What it looks like now.
    pub(crate) async fn look(&mut self, skail: &Skail) -> Result<String, ExecutionError> {
        match self {
            Self::Overview => {
                let mut hasher = DefaultHasher::new();
                format!("{:?}", skail.counts().await?).hash(&mut hasher);
                format!("{:?}", skail.dependencies()).hash(&mut hasher);
                Ok(format!("{:016x}", hasher.finish()))
            }
            Self::List(search) => {
                let mut hasher = DefaultHasher::new();
                let found = skail.find((**search).clone()).await?;
                for header in &found.headers {
                    let (status, updated) = (word(header.status), header.updated_at.as_millis());
                    (header.id.as_str(), status, updated).hash(&mut hasher);
                }
                Ok(format!("{:016x}", hasher.finish()))
            }
            Self::Execution { id, events } => {
                let execution = skail.execution::<IgnoredAny>(id.as_str()).await;
                let execution = match execution {
                    Ok(execution) => execution,
                    Err(ExecutionError::Unknown { .. }) => return Ok("gone".to_owned()),
                    Err(error) => return Err(error),
                };
                let header = match execution.header().await {
                    Ok(header) => header,
                    Err(ExecutionError::Unknown { .. }) => return Ok("gone".to_owned()),
                    Err(error) => return Err(error),
                };
                *events = length(&execution, *events).await?;
                let (status, updated) = (word(header.status), header.updated_at.as_millis());
                Ok(format!("{status}-{updated}-{events}"))
            }
        }
    }
}
