//! Exported histories against the code under test.

use std::sync::Arc;

use super::builder::TestBuilder;
use super::kit::TestSkail;
use crate::history::ExportedHistory;
use crate::skail::{ReplayError, Skail};

/// Runs the function of an [exported](crate::Execution::export) history against it, as
/// [`Builder::replay`](crate::Builder::replay) does: no body runs, so no command needs its state. Keep some
/// histories of production beside the code, one for each way that a function takes, and this test says
/// before a deploy what a running execution would be blocked with.
///
/// A function that asks for `#[state]` needs it: [`TestBuilder::replay`].
///
/// ```standalone_crate
/// use skail_runtime::history::ExportedHistory;
/// use skail_runtime::prelude::*;
/// use skail_runtime::testing::replay;
///
/// #[skail_command]
/// async fn reserve(order: u32) -> anyhow::Result<String> {
///     Ok(format!("shelf of {order}"))
/// }
///
/// #[skail_function]
/// async fn process(order: u32) -> anyhow::Result<String> {
///     // It was `reserve(order)` when the history was recorded.
///     Ok(reserve(order + 1).await?)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anyhow::Result<()> {
/// let kept = r#"{
///     "skail_history": 1,
///     "execution": "order-42",
///     "events": [
///         {"Started": {"at": 1767225600000, "function": "process", "arguments": {"value": [42]}}},
///         {"CommandCompleted": {
///             "at": 1767225600010,
///             "step": {
///                 "position": 0,
///                 "kind": "Command",
///                 "name": "reserve",
///                 "digest": "b0aeef385533fa12987a563b267b66ff",
///                 "arguments": {"value": [42]}
///             },
///             "attempts": 1,
///             "result": {"value": "shelf of 42"}
///         }}
///     ]
/// }"#;
/// let error = replay(&ExportedHistory::from_json(kept)?).await.unwrap_err();
/// assert!(error.to_string().contains(
///     "at position 0 the history holds command `reserve` with arguments [42], and the code asked for \
///      command `reserve` with arguments [43]"
/// ));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`Builder::replay`](crate::Builder::replay).
pub async fn replay(history: &ExportedHistory) -> Result<(), ReplayError> {
    TestSkail::builder().replay(history).await
}

impl TestBuilder {
    /// [`replay`] with what functions borrow.
    ///
    /// # Errors
    /// As [`Builder::replay`](crate::Builder::replay).
    pub async fn replay(self, history: &ExportedHistory) -> Result<(), ReplayError> {
        let make = self.make();
        let setups = make.setups.iter();
        let builder = setups.fold(Skail::builder(), |builder, setup| setup(builder));
        builder
            .clock(Arc::new(make.clock))
            .seed(make.seed)
            .hooks(Arc::clone(&make.commands) as Arc<_>, make.commands.state())
            .replay(history)
            .await
    }
}
