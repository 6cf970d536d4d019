//! The code changed under a running execution: it is blocked with a message, and nothing is lost.

use std::collections::HashMap;

use skail_runtime::history::{Event, Status};
use skail_runtime::prelude::*;

use super::deploying::{blocked, deployed, gate, redeployed, reserve};
use super::support::Line::{Both, Charge, Gate, Reserve};
use super::support::{Bench, count};

#[tokio::test]
async fn another_command_at_a_recorded_position_blocks_with_both_in_the_message() {
    let mut bench = Bench::new();
    let old = [Reserve("a"), Charge("a"), Gate("old")];
    let new = [Reserve("a"), Reserve("a"), Gate("old")];
    let (_skail, execution) = redeployed(&mut bench, &old, &new).await;
    assert_eq!(
        blocked(&execution).await,
        "the code of `deployed` and the history disagree: at position 1 the history holds command \
         `charge` with arguments [\"a\"], and the code asked for command `reserve` with arguments \
         [\"a\"]. Deploy code that asks for the recorded steps in the recorded order (put the old code \
         back, put the change behind `if patched(\"…\").await?`, or give the changed function a new \
         `name` so that running executions keep the old one), then resume."
    );
    let header = execution.header().await.unwrap();
    assert_eq!((header.status, header.due), (Status::Blocked, None));
    assert!(header.problem.unwrap().contains("at position 1"));
    assert_eq!(
        bench.runs.of("reserve a"),
        1,
        "nothing ran that the history does not hold"
    );
}

#[tokio::test]
async fn steps_in_another_order_block() {
    let mut bench = Bench::new();
    let old = [Reserve("a"), Charge("b"), Gate("old")];
    let new = [Charge("b"), Reserve("a"), Gate("old")];
    let (_skail, execution) = redeployed(&mut bench, &old, &new).await;
    let message = blocked(&execution).await;
    assert!(
        message.contains("at position 0 the history holds command `reserve`"),
        "{message}"
    );
}

#[tokio::test]
async fn a_step_added_before_recorded_ones_blocks() {
    let mut bench = Bench::new();
    let old = [Reserve("a"), Gate("old")];
    let new = [Charge("first"), Reserve("a"), Gate("old")];
    let (_skail, execution) = redeployed(&mut bench, &old, &new).await;
    let message = blocked(&execution).await;
    assert!(
        message.contains("the code asked for command `charge` with arguments [\"first\"]"),
        "{message}"
    );
    assert_eq!(bench.runs.of("charge first"), 0, "it did not run");
}

#[tokio::test]
async fn a_step_removed_from_the_end_blocks_and_is_named() {
    let mut bench = Bench::new();
    let old = [Reserve("a"), Charge("a"), Gate("old")];
    let (_skail, execution) = redeployed(&mut bench, &old, &[Reserve("a")]).await;
    let message = blocked(&execution).await;
    let says = "at position 1 the history holds command `charge` with arguments [\"a\"], and the code \
                asked for 1 steps only";
    assert!(message.contains(says), "{message}");
}

#[tokio::test]
async fn a_step_that_only_began_and_was_removed_blocks_too() {
    let mut bench = Bench::new();
    bench.code.deploy(&[Reserve("a"), Gate("old")]);
    let skail = bench.engine().await;
    let id = ExecutionId::new("deployed").unwrap();
    skail.start(deployed()).id(&id).await.unwrap();
    bench.gates.reached("old", 1).await;
    // After a crash the start at the gate is recorded; the code that comes then has no gate.
    let skail = bench.crash(skail).await;
    bench.gates.reached("old", 2).await;
    bench.code.deploy(&[Reserve("a")]);
    let skail = bench.crash(skail).await;
    let execution = skail.execution::<Vec<String>>(&id).await.unwrap();
    let message = blocked(&execution).await;
    assert!(
        message.contains("at position 1 the history holds command `gate`"),
        "{message}"
    );
}

#[tokio::test]
async fn a_step_added_after_all_recorded_ones_simply_runs() {
    let mut bench = Bench::new();
    let old = [Reserve("a"), Gate("old")];
    let new = [Reserve("a"), Gate("old"), Charge("new")];
    let (_skail, execution) = redeployed(&mut bench, &old, &new).await;
    bench.gates.open("old", 1);
    let results = ["reserved a", "passed old", "charged new"];
    assert_eq!(execution.result().await.unwrap(), results);
}

#[tokio::test]
async fn joined_steps_that_became_sequential_block_when_a_result_comes_that_nobody_asked_for() {
    let mut bench = Bench::new();
    // The first of the two waits, the second is recorded.
    let old = [Reserve("a"), Both("b", "c"), Gate("old")];
    let new = [Reserve("a"), Reserve("b"), Gate("old")];
    let (_skail, execution) = redeployed(&mut bench, &old, &new).await;
    let message = blocked(&execution).await;
    let says = "at position 2 the history holds command `reserve` with arguments [\"c\"]";
    assert!(message.contains(says), "{message}");
}

#[tokio::test]
async fn a_block_burns_no_attempt_and_with_the_code_put_back_the_execution_goes_on() {
    let mut bench = Bench::new();
    let old = [Reserve("a"), Charge("a"), Gate("old")];
    let (skail, execution) = redeployed(&mut bench, &old, &[Charge("x")]).await;
    blocked(&execution).await;
    // Resumed with the wrong code still there, it blocks again, as often as one likes.
    for _ in 0..20 {
        execution.resume().await.unwrap();
        blocked(&execution).await;
    }
    let skail = bench.crash(skail).await;
    bench.code.deploy(&old);
    bench.gates.open("old", 1);
    let execution = skail
        .execution::<Vec<String>>(execution.id())
        .await
        .unwrap();
    execution.resume().await.unwrap();
    let results = ["reserved a", "charged a", "passed old"];
    assert_eq!(execution.result().await.unwrap(), results);
    assert_eq!(
        (bench.runs.of("reserve a"), bench.runs.of("charge a")),
        (1, 1)
    );
    let burnt = |event: &Event| matches!(event, Event::FunctionAttemptFailed { .. });
    assert_eq!(count(&execution, burnt).await, 0);
    let blocked = |event: &Event| matches!(event, Event::Blocked { .. });
    assert_eq!(count(&execution, blocked).await, 21);
}

#[skail_function]
async fn loops_over_a_hash_map() -> anyhow::Result<u32> {
    let prices: HashMap<u32, u32> = (0..30).map(|article| (article, article * 10)).collect();
    for (article, price) in prices {
        reserve(format!("{article} at {price}")).await?;
    }
    gate("old".to_owned()).await?;
    Ok(30)
}

#[tokio::test]
async fn a_loop_over_a_hash_map_is_found_out_at_the_first_replay() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("map").unwrap();
    skail.start(loops_over_a_hash_map()).id(&id).await.unwrap();
    bench.gates.reached("old", 1).await;
    let skail = bench.crash(skail).await;
    let execution = skail.execution::<u32>(&id).await.unwrap();
    let message = blocked(&execution).await;
    assert!(
        message.contains("the history holds command `reserve`"),
        "{message}"
    );
}
