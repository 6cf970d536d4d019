//! How a run of a function ends: with a result, a failure, a block, or a wait that leaves memory.
//!
//! Each ending is one commit with the new header, and gives the lease back with it. Who waits for the
//! execution is told only after that.

use super::driver::{Driver, Returned};
use super::recorder::Stop;
use super::waiters::Ending;
use crate::clock::Timestamp;
use crate::codec::{Payload, shorten};
use crate::error::{Advice, BodyError, Failure, FailureKind};
use crate::history::{BlockReason, Event, Status};
use crate::store::HeaderChange;

/// The longest text of a problem in a header, in bytes.
const PROBLEM_BYTES: usize = 400;

/// The function returned, or panicked.
pub(super) async fn returned(mut driver: Driver<'_>, returned: Returned) -> Result<(), Stop> {
    // A body that could not read its arguments did not begin: what it did not ask for says nothing.
    let began = !matches!(returned, Ok(Err(BodyError::Arguments { .. })));
    if let Some(reason) = driver.frame.check_end().filter(|_| began) {
        return blocked(driver, reason).await;
    }
    match returned {
        Ok(Ok(result)) => completed(driver, result).await,
        Ok(Err(BodyError::User(failure))) => failed(&mut driver, failure).await,
        Ok(Err(BodyError::Result(error))) => {
            // Another attempt would return the same type again.
            let failure = Failure::new(FailureKind::Unrecordable, error.to_string());
            failed(&mut driver, failure).await
        }
        Ok(Err(BodyError::Arguments { parameter, error })) => {
            let message = format!(
                "`{}` ({}) cannot read its recorded argument `{parameter}`: {error}. Deploy code that \
                 reads it, then resume.",
                driver.function.name, driver.function.site
            );
            let reason = BlockReason {
                message,
                position: None,
                changed_arguments: None,
            };
            blocked(driver, reason).await
        }
        Err(panic) => {
            let failure = Failure::new(FailureKind::Panicked, panic);
            failed(&mut driver, failure).await
        }
    }
}

async fn completed(mut driver: Driver<'_>, result: Payload) -> Result<(), Stop> {
    let at = driver.shared.clock.now();
    let header = HeaderChange {
        at,
        status: Status::Completed,
        due: None,
        problem: None,
    };
    let event = Event::Completed {
        at,
        result: result.clone(),
    };
    driver.recorder.rest(vec![event], header).await?;
    driver.tell(Ending::Completed(result));
    Ok(())
}

async fn failed(driver: &mut Driver<'_>, failure: Failure) -> Result<(), Stop> {
    let at = driver.shared.clock.now();
    let policy = driver.function.policy;
    let attempt = driver.attempt;
    let dropped = driver.frame.droppable(&driver.deliveries);
    let last = failure.advice == Advice::Permanent;
    let retry_at = (!last && attempt <= policy.retry_count).then(|| {
        let random = driver.shared.random();
        let backoff = policy.backoff.unwrap_or(driver.shared.settings.backoff);
        let most = driver.shared.settings.max_retry_after;
        let usual = || backoff.delay(attempt - 1, driver.previous_delay, random);
        at.saturating_add(failure.advice.wait(most, random, usual))
    });
    let status = if retry_at.is_some() {
        Status::Running
    } else {
        Status::Failed
    };
    let header = HeaderChange {
        at,
        status,
        due: retry_at,
        problem: Some(short(&failure)),
    };
    let execution = driver.recorder.lease().execution.clone();
    let function = driver.function.name;
    let event = Event::FunctionAttemptFailed {
        at,
        attempt,
        failure: failure.clone(),
        dropped,
        retry_at,
    };
    driver.recorder.rest(vec![event], header).await?;
    if retry_at.is_some() {
        tracing::info!(%execution, function, attempt, %failure, "function attempt failed, it will be redelivered");
    } else {
        tracing::error!(%execution, function, attempt, %failure, "execution failed; it can be resumed");
        driver.tell(Ending::Failed {
            attempts: attempt,
            failure,
        });
    }
    Ok(())
}

/// The execution cannot go on with this code.
pub(super) async fn blocked(mut driver: Driver<'_>, reason: BlockReason) -> Result<(), Stop> {
    driver.drop_future();
    let at = driver.shared.clock.now();
    let header = HeaderChange {
        at,
        status: Status::Blocked,
        due: None,
        problem: Some(shorten(reason.message.clone(), PROBLEM_BYTES)),
    };
    let event = Event::Blocked {
        at,
        reason: reason.clone(),
    };
    driver.recorder.rest(vec![event], header).await?;
    tracing::error!(
        execution = %driver.recorder.lease().execution, function = driver.function.name,
        "execution blocked: {}", reason.message
    );
    driver.tell(Ending::Blocked(reason));
    Ok(())
}

/// Everything waits for long: the execution leaves memory until then.
pub(super) async fn park(driver: &mut Driver<'_>, due: Timestamp) -> Result<(), Stop> {
    let at = driver.shared.clock.now();
    let header = HeaderChange {
        at,
        status: Status::Running,
        due: Some(due),
        problem: driver
            .steps
            .held_by()
            .map(|why| shorten(why, PROBLEM_BYTES)),
    };
    driver.recorder.rest(Vec::new(), header).await
}

impl Driver<'_> {
    fn tell(&self, ending: Ending) {
        self.shared
            .waiters
            .tell(&self.recorder.lease().execution, ending);
    }
}

fn short(failure: &Failure) -> String {
    shorten(format!("{}: {failure}", failure.kind), PROBLEM_BYTES)
}
