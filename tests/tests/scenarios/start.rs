//! The id is the idempotency key of a start: one id, one piece of work.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use skail_runtime::clock::Clock as _;
use skail_runtime::history::Status;
use skail_runtime::prelude::*;
use skail_runtime::store::Query;
use skail_runtime::{ExecutionError, StartError};
use tokio::task::JoinSet;

use super::support::{Bench, Runs};

#[skail_command]
async fn works_on(#[state] runs: &Runs, what: String) -> anyhow::Result<u32> {
    Ok(runs.count(&what))
}

#[skail_function]
async fn works(what: String) -> anyhow::Result<u32> {
    Ok(works_on(what).await?)
}

#[skail_function]
async fn works_elsewhere(what: String) -> anyhow::Result<u32> {
    Ok(works_on(what).await?)
}

#[tokio::test]
async fn a_second_start_with_the_same_arguments_gives_the_same_execution_and_runs_nothing() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let one = skail
        .start(works("a".to_owned()))
        .id("order-1")
        .await
        .unwrap();
    let running = skail
        .start(works("a".to_owned()))
        .id("order-1")
        .await
        .unwrap();
    assert_eq!(one.result().await.unwrap(), 1);
    let finished = skail
        .start(works("a".to_owned()))
        .id("order-1")
        .await
        .unwrap();
    assert_eq!(running.result().await.unwrap(), 1);
    assert_eq!(finished.result().await.unwrap(), 1);
    assert_eq!((one.id(), bench.runs.of("a")), (finished.id(), 1));
}

/// Starts eight at once under one id, each from a task of its own.
async fn eight_starts(
    skail: &Skail,
    what: fn(u32) -> String,
) -> Vec<Result<Execution<u32>, StartError>> {
    let mut starts = JoinSet::new();
    for number in 0..8 {
        let skail = skail.clone();
        starts.spawn(async move { skail.start(works(what(number))).id("one").await });
    }
    starts.join_all().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_parallel_starts_of_one_id_are_one_run_and_eight_equal_handles() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    for start in eight_starts(&skail, |_| "same".to_owned()).await {
        assert_eq!(start.unwrap().result().await.unwrap(), 1);
    }
    assert_eq!(bench.runs.of("same"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_eight_parallel_starts_with_different_arguments_one_wins_and_the_rest_conflict() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let starts = eight_starts(&skail, |number| format!("work {number}")).await;
    let (won, lost): (Vec<_>, Vec<_>) = starts.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 7));
    for start in lost {
        let error = start.unwrap_err();
        assert!(
            matches!(error, StartError::OtherArguments { .. }),
            "{error}"
        );
    }
    assert_eq!(
        won.into_iter()
            .next()
            .unwrap()
            .unwrap()
            .result()
            .await
            .unwrap(),
        1
    );
    let runs: u32 = (0..8)
        .map(|number| bench.runs.of(&format!("work {number}")))
        .sum();
    assert_eq!(runs, 1);
}

#[tokio::test]
async fn an_id_that_is_taken_by_other_work_is_an_error_that_says_what_differs() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let there = skail
        .start(works("tea".to_owned()))
        .id("order-1")
        .await
        .unwrap();
    let error = skail
        .start(works_elsewhere("tea".to_owned()))
        .id("order-1")
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`works_elsewhere` was not started: execution `order-1` is one of `works`; an id names one \
         piece of work, so choose another"
    );
    let error = skail
        .start(works("coffee".to_owned()))
        .id("order-1")
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`works` was not started: execution `order-1` is there with the arguments [\"tea\"], and was \
         now asked for with [\"coffee\"]; an id names one piece of work, so choose another, or pass \
         the same arguments"
    );
    assert_eq!(there.result().await.unwrap(), 1);
    assert_eq!(bench.runs.of("coffee"), 0);
}

#[skail_function]
async fn counts_prices(prices: HashMap<u32, u32>) -> anyhow::Result<usize> {
    Ok(prices.len())
}

#[tokio::test]
async fn a_hash_map_is_the_same_argument_whatever_the_order_of_its_entries() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    for _ in 0..10 {
        let prices: HashMap<u32, u32> = (0..50).map(|article| (article, article)).collect();
        let execution = skail
            .start(counts_prices(prices))
            .id("prices")
            .await
            .unwrap();
        assert_eq!(execution.result().await.unwrap(), 50);
    }
}

#[tokio::test]
async fn starts_without_an_id_are_executions_of_their_own_under_uuids_in_order() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let mut ids = BTreeSet::new();
    for _ in 0..5 {
        let execution = skail.start(works("anonymous".to_owned())).await.unwrap();
        execution.result().await.unwrap();
        let id: uuid::Uuid = execution.id().as_str().parse().unwrap();
        assert_eq!(id.get_version_num(), 7);
        ids.insert(id);
    }
    assert_eq!((ids.len(), bench.runs.of("anonymous")), (5, 5));
}

#[tokio::test]
async fn a_delayed_start_begins_when_it_is_due_also_when_the_process_restarts_meanwhile() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let start = bench.clock.now();
    let still = bench.clock.working();
    let hour = Duration::from_secs(3_600);
    let execution = skail
        .start(works("later".to_owned()))
        .id("later")
        .delay(hour)
        .await
        .unwrap();
    let due = execution.header().await.unwrap().due.unwrap();
    assert_eq!(due.saturating_since(start), hour);
    bench.clock.step(1_000_000);

    let skail = bench.crash(skail).await;
    assert_eq!(bench.runs.of("later"), 0);
    drop(still);
    let execution = skail.execution::<u32>(execution.id()).await.unwrap();
    assert_eq!(execution.result().await.unwrap(), 1);
    assert_eq!(bench.clock.since(start), hour);
}

#[tokio::test]
async fn tags_are_kept_with_the_execution_and_the_last_of_a_name_holds() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let start = skail.start(works("tagged".to_owned())).id("tagged");
    let start = start
        .tag("customer", "17")
        .tag("shop", "north")
        .tag("customer", "18");
    start.await.unwrap().result().await.unwrap();
    let page = skail.list(Query::default()).await.unwrap();
    let tags = page.headers[0]
        .tags
        .iter()
        .map(|(name, value)| (&**name, &**value));
    assert_eq!(
        tags.collect::<Vec<_>>(),
        [("customer", "18"), ("shop", "north")]
    );
}

#[tokio::test]
async fn an_id_that_cannot_be_one_is_refused_and_nothing_is_written() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    for id in [
        "",
        "two\nlines",
        "bell\u{7}",
        &"x".repeat(201),
        &"ä".repeat(101),
    ] {
        let error = skail
            .start(works("never".to_owned()))
            .id(id)
            .await
            .unwrap_err();
        assert!(matches!(error, StartError::Id(_)), "{error}");
        assert!(
            error
                .to_string()
                .contains("use 1 to 200 bytes without control characters")
        );
    }
    assert!(
        skail
            .list(Query::default())
            .await
            .unwrap()
            .headers
            .is_empty()
    );
    for id in ["x".repeat(200), "ä".repeat(100), "a b/c:d".to_owned()] {
        skail
            .start(works("fine".to_owned()))
            .id(id)
            .await
            .unwrap()
            .result()
            .await
            .unwrap();
    }
}

#[skail_function]
async fn opens(path: std::path::PathBuf) -> anyhow::Result<()> {
    anyhow::bail!("it cannot get here: {}", path.display())
}

#[tokio::test]
async fn arguments_that_cannot_be_recorded_are_refused_by_name_and_nothing_is_written() {
    use std::os::unix::ffi::OsStringExt as _;
    let bench = Bench::new();
    let skail = bench.builder().payload_limit(1_000).start().await.unwrap();
    let path = std::ffi::OsString::from_vec(b"/tmp/\xff".to_vec());
    let error = skail.start(opens(path.into())).await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("`opens` was not started: its argument `path` cannot be recorded"),
        "{text}"
    );
    let error = skail.start(works("x".repeat(1_000))).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("takes 1004 bytes, more than the limit of 1000"),
        "{error}"
    );
    assert!(
        skail
            .list(Query::default())
            .await
            .unwrap()
            .headers
            .is_empty()
    );
}

#[tokio::test]
async fn a_handle_of_another_type_says_so_and_the_result_is_not_lost() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail
        .start(works("typed".to_owned()))
        .id("typed")
        .await
        .unwrap();
    execution.result().await.unwrap();
    let wrong = skail
        .execution::<Vec<String>>(execution.id())
        .await
        .unwrap();
    let error = wrong.result().await.unwrap_err();
    assert!(matches!(error, ExecutionError::Result { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("the result of execution `typed`"),
        "{error}"
    );
    assert_eq!(execution.result().await.unwrap(), 1);
}

#[tokio::test]
async fn an_execution_whose_function_is_not_registered_is_parked_listed_and_takes_nothing_down() {
    let bench = Bench::new();
    let at = bench.clock.now();
    let retired = skail_runtime::history::Event::Started {
        at,
        function: "retired_last_year".to_owned(),
        arguments: skail_runtime::codec::Payload::encode(&[1]).unwrap(),
    };
    let id = ExecutionId::new("a retired one").unwrap();
    skail_tests::import(&bench.store, &id, vec![retired]).await;
    let skail = bench
        .builder()
        .max_running_executions(1)
        .start()
        .await
        .unwrap();
    assert!(!skail.functions().contains(&"retired_last_year".to_owned()));
    assert!(skail.functions().contains(&"works".to_owned()));
    for number in 0..5 {
        let execution = skail
            .start(works(format!("beside {number}")))
            .await
            .unwrap();
        assert_eq!(execution.result().await.unwrap(), 1);
    }
    let query = Query {
        function: Some("retired_last_year".to_owned()),
        ..Query::default()
    };
    let page = skail.list(query).await.unwrap();
    assert_eq!(page.headers.len(), 1);
    assert_eq!(
        (&page.headers[0].id, page.headers[0].status),
        (&id, Status::Running)
    );
}
