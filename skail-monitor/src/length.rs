//! How many events a history has, without reading it.

use skail_runtime::{Execution, ExecutionError, Sequence};

/// The number of events, which is at least `known`. Reads single events, a number that grows with the
/// logarithm of how many came after `known`.
pub(crate) async fn length<T>(execution: &Execution<T>, known: u64) -> Result<u64, ExecutionError> {
    let mut there = known;
    let mut step = 1;
    // Upwards until one is missing, then halving what is left.
    while is_there(execution, there + step - 1).await? {
        there += step;
        step *= 2;
    }
    while step > 1 {
        step /= 2;
        if is_there(execution, there + step - 1).await? {
            there += step;
        }
    }
    Ok(there)
}

async fn is_there<T>(execution: &Execution<T>, place: u64) -> Result<bool, ExecutionError> {
    Ok(!execution.events(Sequence(place), 1).await?.is_empty())
}
