//! `crash_everywhere`: what holds is held good, what does not is found out and told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use skail_runtime::prelude::*;
use skail_runtime::retry::{Backoff, Jitter};
use skail_runtime::testing::{CrashError, TestBuilder, TestSkail, crash_everywhere};

use super::shop::{GatewayError, Ledger, charge, print, process};

/// What was done, as often as it was done.
#[derive(Debug, Clone, Default)]
pub(crate) struct Done(Arc<Mutex<Vec<String>>>);

impl Done {
    fn again(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }
}

#[tokio::test]
async fn a_function_whose_effects_know_their_keys_stands_every_crash() {
    let setup = || {
        let ledger = Ledger::default();
        let charged = ledger.clone();
        let test = TestSkail::builder()
            .state(ledger.clone())
            .replace::<charge>()
            .with(move |(order, cents)| {
                if attempt().number < 3 {
                    return Err(GatewayError::Status { status: 503 });
                }
                charged.enter(idempotency_key(), cents);
                Ok(format!("{cents} for {order}"))
            })
            .replace::<print>()
            .with(|_| Ok(()));
        (test, move || ledger.entries())
    };
    let report = crash_everywhere(|| process(7), setup).await.unwrap();
    // reserve, charge (two failures, the result), print, the end.
    assert_eq!((report.commits, report.crashes), (6, 12));
}

#[skail_command]
async fn append(#[state] done: &Done, line: String) -> anyhow::Result<()> {
    done.again(line);
    Ok(())
}

#[skail_function]
async fn appends() -> anyhow::Result<()> {
    append("first".to_owned()).await?;
    append("second".to_owned()).await?;
    Ok(())
}

fn with_done() -> (TestBuilder, impl Fn() -> Vec<String>) {
    let done = Done::default();
    let test = TestSkail::builder().state(done.clone());
    (test, move || done.0.lock().unwrap().clone())
}

#[tokio::test]
async fn an_effect_that_adds_up_is_found_out_at_the_first_crash_that_doubles_it() {
    let error = crash_everywhere(appends, with_done).await.unwrap_err();
    let message = error.to_string();
    assert_eq!(
        message,
        "with a crash before commit 1 of 3, which records the result of command `append` at position 0: \
         other effects than without a crash:\n  \
         [\n      \"first\",\n+     \"first\",\n      \"second\",\n  ]\n\
         A body that had its effect when the process died, and whose result was not recorded yet, runs \
         again: let whoever receives the effect know it by `idempotency_key()`."
    );
    assert_eq!(format!("{error:?}"), message, "as `unwrap` shows it");
}

#[skail_command(retry_count = 0)]
async fn at_most_once(#[state] done: &Done) -> anyhow::Result<u32> {
    done.again("once");
    Ok(1)
}

#[skail_function(retry_count = 0)]
async fn careless() -> anyhow::Result<u32> {
    Ok(at_most_once().await?)
}

#[tokio::test]
async fn an_interrupted_command_that_the_function_does_not_care_for_is_another_result() {
    let error = crash_everywhere(careless, with_done).await.unwrap_err();
    let CrashError::Difference {
        place,
        what,
        differs,
    } = error
    else {
        panic!("{error}")
    };
    // The start of such a command is a commit of its own; after it, nobody knows.
    assert_eq!(what, "another result");
    assert!(
        place.contains("after commit 1") && place.contains("attempt 1 of command `at_most_once`"),
        "{place}"
    );
    assert!(
        differs.contains("-") && differs.contains("interrupted"),
        "{differs}"
    );
}

#[skail_function(retry_count = 0)]
async fn careful() -> anyhow::Result<u32> {
    match at_most_once().await {
        Ok(number) => Ok(number),
        Err(error) if error.kind() == FailureKind::Interrupted => Ok(1),
        Err(error) => Err(error.into()),
    }
}

#[tokio::test]
async fn one_that_the_function_cares_for_is_the_same_result_and_an_effect_less() {
    let done = |setup: fn(Vec<String>) -> usize| {
        move || {
            let (test, effects) = with_done();
            (test, move || setup(effects()))
        }
    };
    crash_everywhere(careful, done(|_| 0)).await.unwrap();
    let error = crash_everywhere(careful, done(|done| done.len()))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("other effects"), "{error}");
}

#[skail_function(retry_count = 1)]
async fn fails_in_the_end() -> anyhow::Result<()> {
    append("tried".to_owned()).await?;
    anyhow::bail!("no way")
}

#[tokio::test]
async fn a_failure_is_a_result_too_and_must_be_the_same_every_time() {
    let setup = || (with_done().0, || ());
    let report = crash_everywhere(fails_in_the_end, setup).await.unwrap();
    assert_eq!(
        report.commits, 3,
        "the command, and two attempts of the function"
    );
}

#[skail_function]
async fn waits_for_a_month() -> anyhow::Result<()> {
    let month = Duration::from_secs(30 * 24 * 3600);
    let slowly = Backoff::new(month, 2.0, month, Jitter::None)?;
    print("label".to_owned()).backoff(slowly).await?;
    Ok(())
}

#[tokio::test]
async fn a_crash_in_a_wait_of_a_month_is_none_in_the_wait() {
    let setup = || {
        let test = TestSkail::builder().replace::<print>().with(|_| {
            anyhow::ensure!(attempt().number > 1, "not yet");
            Ok(())
        });
        (test, || ())
    };
    crash_everywhere(waits_for_a_month, setup).await.unwrap();
}

#[tokio::test]
async fn a_test_that_is_not_whole_is_no_difference() {
    let setup = || (TestSkail::builder().state(Ledger::default()), || ());
    let error = crash_everywhere(|| process(7), setup).await.unwrap_err();
    assert!(matches!(error, CrashError::Test(_)), "{error}");
    assert!(
        error.to_string().contains("`.replace::<charge>()`"),
        "{error}"
    );
}
