//! `TestSkail`: substitutes, counts, time, restarts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use skail_runtime::clock::{Clock as _, Timestamp};
use skail_runtime::prelude::*;
use skail_runtime::testing::{TestBuilder, TestError, TestSkail};

use super::shop::{Gateway, GatewayError, Ledger, charge, print, process, reserve};

/// A shop whose gateway is down for the first `down` attempts.
fn shop(down: u32) -> TestBuilder {
    TestSkail::builder()
        .state(Ledger::default())
        .replace::<charge>()
        .with(move |(order, cents)| {
            if attempt().number <= down {
                return Err(GatewayError::Status { status: 503 });
            }
            Ok(format!("{cents} for {order}"))
        })
        .replace::<print>()
        .with(|(_,)| Ok(()))
}

#[tokio::test]
async fn a_substitute_runs_in_the_place_of_the_body_with_its_arguments_and_its_policy() {
    let test = shop(3).start().await.unwrap();
    assert_eq!(test.run(process(7)).await.unwrap(), "1400 for 7");
    assert_eq!(test.runs_of::<charge>(), 4, "three attempts failed");
    assert_eq!((test.runs_of::<reserve>(), test.runs_of::<print>()), (1, 1));
    let charged = test.command::<charge>().arguments().unwrap();
    assert_eq!(charged, [(7, 1400); 4]);
    let printed = test.command::<print>().arguments().unwrap();
    assert_eq!(printed, [("1400 for 7".to_owned(),)]);
}

#[tokio::test]
async fn a_substitute_that_always_fails_gives_the_function_the_commands_own_error() {
    let test = shop(u32::MAX).start().await.unwrap();
    assert_eq!(test.run(process(7)).await.unwrap(), "refused with 503");
    assert_eq!(test.runs_of::<charge>(), 9);
}

#[tokio::test]
async fn a_substitute_that_panics_is_a_failed_attempt() {
    let tries = Arc::new(AtomicU32::new(0));
    let panics = Arc::clone(&tries);
    let test = shop(0).replace::<charge>().with(move |(_, cents)| {
        assert!(panics.fetch_add(1, Ordering::SeqCst) > 0, "the first one");
        Ok(cents.to_string())
    });
    let test = test.start().await.unwrap();
    assert_eq!(test.run(process(7)).await.unwrap(), "1400");
    assert_eq!(test.runs_of::<charge>(), 2);
}

#[tokio::test]
async fn an_async_substitute_has_the_timeout_and_the_idempotency_key_of_the_command() {
    let test = shop(0).replace::<charge>().with_async(|(_, _)| async {
        if attempt().number == 1 {
            std::future::pending::<()>().await;
        }
        Ok(idempotency_key())
    });
    let test = test.start().await.unwrap();
    assert_eq!(test.run(process(7)).await.unwrap(), "charge-7");
    assert!(
        test.elapsed() >= Duration::from_secs(5),
        "the timeout passed"
    );
    assert_eq!(test.runs_of::<charge>(), 2);
}

#[tokio::test]
async fn the_later_of_two_substitutes_and_of_two_states_counts() {
    let ledger = Ledger::default();
    let test = shop(0)
        .replace::<charge>()
        .with(|_| Ok("mine".to_owned()))
        .state(ledger.clone())
        .start()
        .await
        .unwrap();
    assert_eq!(test.run(process(7)).await.unwrap(), "mine");
    assert_eq!(ledger.entries().len(), 1);
}

#[tokio::test]
async fn a_command_without_its_state_fails_the_test_by_name_whatever_the_function_makes_of_it() {
    let test = TestSkail::builder()
        .state(Ledger::default())
        .replace::<print>()
        .with(|_| Ok(()))
        .start()
        .await
        .unwrap();
    // The function takes the error of `charge` and goes on.
    let error = test.run(process(7)).await.unwrap_err();
    assert!(matches!(error, TestError::MissingState { .. }), "{error}");
    let message = error.to_string();
    assert!(
        message.contains("the command `charge`")
            && message.contains("shop::Gateway`")
            && message.contains("`.replace::<charge>()`"),
        "{message}"
    );
    assert_eq!(test.runs_of::<charge>(), 1, "no attempt can help");
}

/// State of a function that no test of it gives.
pub(crate) struct NobodyGivesIt;

#[skail_function]
async fn lacks_state(#[state] missing: &NobodyGivesIt) -> anyhow::Result<()> {
    let _ = missing;
    Ok(())
}

#[tokio::test]
async fn a_function_without_its_state_says_so_when_it_is_to_run_and_not_before() {
    let test = shop(0).start().await.unwrap();
    test.run(process(1)).await.unwrap();
    let error = test.run(lacks_state()).await.unwrap_err().to_string();
    assert!(
        error.contains("the function `lacks_state`") && error.contains("NobodyGivesIt`"),
        "{error}"
    );
}

#[tokio::test]
async fn a_body_that_is_not_replaced_runs_and_is_counted() {
    let test = shop(0).state(Gateway).replace::<print>().with(|_| Ok(()));
    let test = test.start().await.unwrap();
    test.run(process(1)).await.unwrap();
    test.run(process(2)).await.unwrap();
    assert_eq!(test.runs_of::<reserve>(), 2);
    assert_eq!(test.command::<reserve>().arguments().unwrap(), [(1,), (2,)]);
}

#[tokio::test]
async fn time_begins_where_it_is_told_to_and_jumps() {
    let start = Timestamp::from_millis(1_000_000_000_000);
    let test = shop(0).clock_at(start).start().await.unwrap();
    let year = Duration::from_secs(365 * 24 * 3600);
    let order = test.skail().start(process(1)).delay(year).await.unwrap();
    order.result().await.unwrap();
    assert_eq!(test.clock().now(), start.saturating_add(year));
    assert_eq!(test.elapsed(), year);
}

#[tokio::test]
async fn the_same_seed_gives_the_same_times_and_another_one_others() {
    let mut took = Vec::new();
    for seed in [1, 1, 2] {
        let test = shop(5).seed(seed).start().await.unwrap();
        test.run(process(1)).await.unwrap();
        took.push(test.elapsed());
    }
    assert_eq!(took[0], took[1]);
    assert_ne!(took[0], took[2]);
}

#[tokio::test]
async fn after_a_restart_what_was_recorded_is_there_and_counts_go_on() {
    let mut test = shop(0).start().await.unwrap();
    let day = Duration::from_secs(24 * 3600);
    let id = ExecutionId::new("late").unwrap();
    let later = test.skail().start(process(1)).id(&id).delay(day);
    later.await.unwrap();
    test.run(process(2)).await.unwrap();
    test.restart().await.unwrap();
    let late = test.skail().execution::<String>(&id).await.unwrap();
    assert_eq!(late.result().await.unwrap(), "200 for 1");
    assert_eq!(test.runs_of::<charge>(), 2);
    assert_eq!(test.elapsed(), day);
}

#[tokio::test]
async fn settings_of_the_engine_hold() {
    let test = shop(0).configure(|engine| engine.payload_limit(3));
    let test = test.start().await.unwrap();
    let error = test.run(process(70_000)).await.unwrap_err();
    assert!(error.to_string().contains("payload_limit"), "{error}");
}

#[tokio::test]
#[should_panic(expected = "`process` is a function")]
async fn a_function_cannot_be_replaced() {
    let _ = TestSkail::builder().replace::<process>();
}
