//! The history of an execution: what happened, what follows from it, and what it answers at replay.
//!
//! Owns the stored facts and their format. Pure: must never know tokio, a store or a clock.

mod divergence;
mod event;
mod export;
mod format;
mod replay;
mod status;

pub use divergence::Divergence;
pub use event::{AcceptedArguments, BlockReason, Event, Step, StepKind};
pub use export::{ExportedHistory, ImportError};
pub use format::{FORMAT_VERSION, FormatError, decode_record, encode_record};
pub use replay::{Delivery, HistoryError, Outcome, Recorded, Replay};
pub use status::{Status, StatusRefusal};
