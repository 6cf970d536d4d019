//! The time, randomness, ids and values of one's own: recorded once, the same in every run.

use std::time::Duration;

use skail_runtime::history::Event;
use skail_runtime::prelude::*;
use skail_runtime::{FailureKind, Position};

use super::deploying::{blocked, gate, redeployed};
use super::support::Line::{Charge, Gate, Now, Random, Record, Reserve, Uuid};
use super::support::{Bench, Keys, Line, Runs, count};

fn value(event: &Event) -> bool {
    matches!(event, Event::ValueRecorded { .. })
}

#[skail_function]
async fn notes_its_values(#[state] keys: &Keys, #[state] runs: &Runs) -> anyhow::Result<()> {
    keys.note(format!("{:?}", now().await?));
    let (a, b, c) = futures::try_join!(random::<u64>(), random::<u64>(), random::<f64>())?;
    keys.note(format!("{a} {b} {c}"));
    keys.note(format!("{} {}", uuid().await?, uuid().await?));
    let made = record("made", || runs.count("made")).await?;
    keys.note(format!("{made}"));
    gate("after".to_owned()).await?;
    keys.note("end".to_owned());
    Ok(())
}

#[tokio::test]
async fn whenever_the_function_runs_again_it_gets_the_recorded_values_and_nothing_is_made_anew() {
    let mut bench = Bench::new();
    let mut skail = bench.engine().await;
    let id = ExecutionId::new("values").unwrap();
    skail.start(notes_its_values()).id(&id).await.unwrap();
    for life in 1..=3 {
        bench.gates.reached("after", life).await;
        bench.clock.step(3_600_000);
        skail = bench.crash(skail).await;
    }
    bench.gates.open("after", 4);
    let execution = skail.execution::<()>(&id).await.unwrap();
    execution.result().await.unwrap();
    let seen = bench.keys.all();
    assert_eq!(seen.len(), 4 * 4 + 1);
    for later in [&seen[4..8], &seen[8..12], &seen[12..16]] {
        assert_eq!(later, &seen[..4]);
    }
    assert_eq!(
        (bench.runs.of("made"), count(&execution, value).await),
        (1, 7)
    );
}

type Drawn = (Vec<u8>, f64, u128, bool, String, String);

#[skail_function]
async fn draws() -> anyhow::Result<Drawn> {
    let mut bytes = Vec::new();
    for _ in 0..200 {
        bytes.push(random().await?);
    }
    let (one, other) = (uuid().await?, uuid().await?);
    let numbers = (random().await?, random().await?, random().await?);
    Ok((
        bytes,
        numbers.0,
        numbers.1,
        numbers.2,
        one.to_string(),
        other.to_string(),
    ))
}

#[tokio::test]
async fn random_values_are_spread_and_different_in_each_execution_and_ids_sort_by_time() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let first = skail.start(draws()).await.unwrap().result().await.unwrap();
    bench.clock.step(1_000);
    let second = skail.start(draws()).await.unwrap().result().await.unwrap();
    assert_ne!(first.0, second.0);
    assert_ne!((first.1, first.2), (second.1, second.2));
    let mut distinct = first.0.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert!(distinct.len() > 100, "{distinct:?}");
    assert!((0.0..1.0).contains(&first.1));
    for id in [&first.4, &first.5, &second.4, &second.5] {
        let id = uuid::Uuid::parse_str(id).unwrap();
        assert_eq!(id.get_version_num(), 7);
    }
    assert_ne!(first.4, first.5);
    assert!(first.4 < second.4 && first.5 < second.5);
}

#[skail_function]
async fn asks_for_the_time_twice() -> anyhow::Result<Duration> {
    let first = now().await?;
    gate("between".to_owned()).await?;
    // An error if the second were the earlier one.
    Ok(now().await?.duration_since(first)?)
}

#[tokio::test]
async fn time_never_runs_backwards_within_an_execution_though_the_clock_was_set_back() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(asks_for_the_time_twice()).await.unwrap();
    bench.gates.reached("between", 1).await;
    bench.clock.step(-3_600_000);
    bench.gates.open("between", 1);
    assert_eq!(execution.result().await.unwrap(), Duration::ZERO);
}

#[skail_function]
async fn drops_a_value() -> anyhow::Result<Option<Position>> {
    tokio::select! {
        biased;
        _ = now() => anyhow::bail!("it is not there at the first poll"),
        () = std::future::ready(()) => {}
    }
    let begun = random::<u64>();
    drop(begun);
    let nothing = record("too much", || vec![0_u8; 5_000]).await.unwrap_err();
    Ok(nothing.position())
}

#[tokio::test]
async fn a_value_that_lost_its_race_is_not_recorded_and_keeps_its_position() {
    let bench = Bench::new();
    let skail = bench.builder().payload_limit(4_096).start().await.unwrap();
    let execution = skail.start(drops_a_value()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), Some(Position(1)));
    assert_eq!(count(&execution, value).await, 0);
}

#[skail_function(retry_count = 0)]
async fn records_what_cannot_be(#[state] runs: &Runs) -> anyhow::Result<String> {
    let lost = record("lost", || {
        runs.count("lost");
        Some(None::<u32>)
    });
    let lost = lost.await.unwrap_err();
    gate("recorded".to_owned()).await?;
    assert_eq!(lost.kind(), FailureKind::Unrecordable);
    Ok(lost.to_string())
}

#[tokio::test]
async fn a_value_that_cannot_be_recorded_is_an_error_that_is_recorded() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("lost").unwrap();
    skail.start(records_what_cannot_be()).id(&id).await.unwrap();
    bench.gates.reached("recorded", 1).await;
    let skail = bench.crash(skail).await;
    bench.gates.open("recorded", 2);
    let execution = skail.execution::<String>(&id).await.unwrap();
    let text = execution.result().await.unwrap();
    let begins =
        "step `record(\"lost\")` (position 0) unrecordable: its value cannot be recorded: ";
    assert!(text.starts_with(begins), "{text}");
    assert_eq!(bench.runs.of("lost"), 1, "it was not made again");
}

#[skail_function(retry_count = 1, backoff(base = "1ms"))]
async fn panics_in_a_record(#[state] runs: &Runs) -> anyhow::Result<u32> {
    let made = record("panics", || {
        let run = runs.count("panics");
        assert!(run > 1, "the first time");
        run
    });
    Ok(made.await?)
}

#[tokio::test]
async fn a_panic_in_a_record_is_one_of_the_function() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(panics_in_a_record()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 2);
}

#[skail_function(retry_count = 0)]
async fn catches_the_panic_of_a_record() -> anyhow::Result<u32> {
    use futures::FutureExt as _;
    let made = record("panics", || -> u32 { panic!("caught") });
    let caught = std::panic::AssertUnwindSafe(made).catch_unwind().await;
    assert!(caught.is_err());
    Ok(random::<u32>().await.map(|_| 7)?)
}

#[tokio::test]
async fn a_panic_in_a_record_that_the_function_catches_leaves_a_dropped_step() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(catches_the_panic_of_a_record()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 7);
}

#[skail_command(retry_count = 1, backoff(base = "1ms"))]
async fn fails_two_times(#[state] runs: &Runs) -> anyhow::Result<u32> {
    let run = runs.count("fails");
    anyhow::ensure!(run > 2, "not yet");
    Ok(run)
}

#[skail_function(retry_count = 2, backoff(base = "1ms"))]
async fn notes_the_time_of_a_failure(#[state] runs: &Runs) -> anyhow::Result<u32> {
    if let Err(error) = fails_two_times().await {
        now().await?;
        runs.count("failures seen");
        anyhow::ensure!(runs.of("failures seen") > 2, error);
        return Ok(0);
    }
    anyhow::bail!("the failure was built on")
}

#[tokio::test]
async fn a_failure_after_which_a_value_was_recorded_stands() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(notes_the_time_of_a_failure()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 0);
    assert_eq!(bench.runs.of("fails"), 2);
}

#[skail_command(retry_count = 0)]
async fn asks_inside_a_command() -> anyhow::Result<String> {
    Ok(uuid().await.unwrap_err().to_string())
}

#[skail_function]
async fn asks_in_the_wrong_place() -> anyhow::Result<String> {
    Ok(asks_inside_a_command().await?)
}

#[tokio::test]
async fn outside_of_a_function_each_is_an_error_that_says_so() {
    let error = now().await.unwrap_err();
    assert_eq!(
        (error.kind(), error.position(), error.step()),
        (FailureKind::Misplaced, None, "now()")
    );
    assert_eq!(
        error.to_string(),
        "step `now()` misplaced: `now()` was awaited outside an execution; it is a step of a \
         `#[skail_function]`, recorded so that the function goes on with the same when it runs again. \
         Await it there; elsewhere ask the clock itself: `SystemTime::now()`"
    );
    let mut made = false;
    let error = record("mine", || made = true).await.unwrap_err();
    assert!(
        error
            .message()
            .starts_with("`record(\"mine\")` was awaited outside an execution")
    );
    let error = patched("mine").await.unwrap_err();
    assert!(
        error
            .message()
            .starts_with("`patched(\"mine\")` was awaited outside an execution")
    );
    let error = sleep(Duration::ZERO).await.unwrap_err();
    assert!(
        error.message().contains("such as `tokio::time::sleep`"),
        "{error}"
    );
    assert_eq!(
        random::<u8>().await.unwrap_err().kind(),
        FailureKind::Misplaced
    );
    assert!(!made);

    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(asks_in_the_wrong_place()).await.unwrap();
    let text = execution.result().await.unwrap();
    assert!(
        text.contains("`uuid()` was awaited inside a command"),
        "{text}"
    );
}

#[tokio::test]
async fn another_step_where_a_value_is_recorded_blocks_with_both_in_the_message() {
    let lines = [Now, Random, Uuid, Record("one"), Reserve("a")];
    let named = [
        "value `now`",
        "value `random`",
        "value `uuid`",
        "recorded value `one`",
        "command `reserve` with arguments [\"a\"]",
    ];
    for (there, recorded) in lines.iter().zip(named) {
        let others = [Now, Random, Uuid, Record("other"), Charge("a")];
        let asked = [
            "value `now`",
            "value `random`",
            "value `uuid`",
            "recorded value `other`",
            "command `charge` with arguments [\"a\"]",
        ];
        for (other, asked) in others
            .iter()
            .zip(asked)
            .filter(|(_, asked)| *asked != recorded)
        {
            let mut bench = Bench::new();
            let old = [Reserve("x"), there.clone(), Gate("old")];
            let new = [Reserve("x"), other.clone(), Gate("old")];
            let (_skail, execution) = redeployed(&mut bench, &old, &new).await;
            let message = blocked(&execution).await;
            let says = format!(
                "at position 1 the history holds {recorded}, and the code asked for {asked}."
            );
            assert!(message.contains(&says), "{says}\n{message}");
        }
    }
}

#[tokio::test]
async fn a_value_that_was_removed_blocks_and_with_the_code_put_back_it_goes_on() {
    let mut bench = Bench::new();
    let old = [Random, Record("region"), Gate("old")];
    let new: [Line; 2] = [Random, Gate("old")];
    let (_skail, execution) = redeployed(&mut bench, &old, &new).await;
    let message = blocked(&execution).await;
    assert!(
        message.contains("position 1 the history holds recorded value `region`"),
        "{message}"
    );
    bench.code.deploy(&old);
    bench.gates.open("old", 2);
    execution.resume().await.unwrap();
    assert_eq!(execution.result().await.unwrap(), ["REGION", "passed old"]);
}

#[skail_function(name = "reads its record")]
async fn reads_a_number(#[state] runs: &Runs) -> anyhow::Result<()> {
    if runs.count("reads a number") == 1 {
        record("amount", || 17_u32).await?;
    } else {
        record("amount", String::new).await?;
    }
    gate("old".to_owned()).await?;
    Ok(())
}

#[tokio::test]
async fn a_recorded_value_that_the_code_reads_as_another_type_blocks() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("type").unwrap();
    skail.start(reads_a_number()).id(&id).await.unwrap();
    bench.gates.reached("old", 1).await;
    let skail = bench.crash(skail).await;
    let message = blocked(&skail.execution::<()>(&id).await.unwrap()).await;
    let says = "at position 0 the recorded result of recorded value `amount`: ";
    assert!(
        message.contains(says) && message.contains("String"),
        "{message}"
    );
}

#[skail_function]
async fn asks_for_ever(#[state] runs: &Runs) -> anyhow::Result<()> {
    loop {
        random::<u8>().await?;
        runs.count("values");
    }
}

#[tokio::test]
async fn a_function_that_asks_for_values_for_ever_does_not_hold_a_shutdown_up() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    skail.start(asks_for_ever()).await.unwrap();
    bench.runs.reached("values", 10).await;
    super::support::soon("the shutdown", skail.shutdown())
        .await
        .unwrap();
}
