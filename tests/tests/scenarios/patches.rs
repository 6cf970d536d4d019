//! Changing the code of a function under its executions with `patched`.

use skail_runtime::history::Event;
use skail_runtime::prelude::*;

use super::deploying::{blocked, deployed, redeployed};
use super::support::Line::{Charge, Gate, Patched, Reserve};
use super::support::{Bench, Line, count};

fn patch(event: &Event) -> bool {
    matches!(event, Event::Patched { .. })
}

/// Runs these lines from the beginning, to the end.
async fn fresh(lines: &[Line]) -> (Vec<String>, usize) {
    let bench = Bench::new();
    bench.code.deploy(lines);
    bench.gates.open("old", 1);
    let skail = bench.engine().await;
    let execution = skail.start(deployed()).await.unwrap();
    let results = execution.result().await.unwrap();
    (results, count(&execution, patch).await)
}

/// Runs `old` up to its gate, deploys `new`, opens the gate, and kills it once more at the gate "new" if it
/// comes there.
async fn over(old: &[Line], new: &[Line]) -> (Vec<String>, usize) {
    let mut bench = Bench::new();
    let (skail, execution) = redeployed(&mut bench, old, new).await;
    bench.gates.open("old", 1);
    if format!("{new:?}").contains("\"new\"") {
        bench.gates.reached("new", 1).await;
        let skail = bench.crash(skail).await;
        bench.gates.open("new", 1);
        let execution = skail
            .execution::<Vec<String>>(execution.id())
            .await
            .unwrap();
        let results = execution.result().await.unwrap();
        return (results, count(&execution, patch).await);
    }
    let results = execution.result().await.unwrap();
    (results, count(&execution, patch).await)
}

fn change(id: &'static str, new: &[Line], old: &[Line]) -> Line {
    Patched(id, new.to_vec(), old.to_vec())
}

#[tokio::test]
async fn an_execution_that_starts_after_the_change_takes_the_new_way_and_that_is_recorded() {
    let lines = [
        Reserve("a"),
        change("x", &[Charge("new")], &[Charge("old")]),
    ];
    assert_eq!(
        fresh(&lines).await,
        (vec!["reserved a".into(), "charged new".into()], 1)
    );
}

#[tokio::test]
async fn an_older_history_that_holds_the_old_way_stays_on_it() {
    let old = [Reserve("a"), Charge("old"), Gate("old")];
    let new = [
        Reserve("a"),
        change("x", &[Reserve("one"), Charge("two")], &[Charge("old")]),
        Gate("old"),
        Gate("new"),
    ];
    let results = ["reserved a", "charged old", "passed old", "passed new"];
    assert_eq!(
        over(&old, &new).await,
        (results.map(str::to_owned).to_vec(), 0)
    );
}

#[tokio::test]
async fn an_older_history_that_ends_before_the_change_takes_the_new_way_for_good() {
    // What runs at the gate when the old process dies has left no record.
    let old = [Reserve("a"), Gate("old"), Charge("old")];
    let new = [
        Reserve("a"),
        Gate("old"),
        change("x", &[Charge("new"), Gate("new")], &[Charge("old")]),
    ];
    let results = ["reserved a", "passed old", "charged new", "passed new"];
    assert_eq!(
        over(&old, &new).await,
        (results.map(str::to_owned).to_vec(), 1)
    );
}

#[tokio::test]
async fn in_a_loop_the_rounds_that_were_recorded_are_old_and_the_others_new() {
    let round = || change("x", &[Charge("new")], &[Charge("old")]);
    let old = [Charge("old"), Charge("old"), Gate("old"), Charge("old")];
    let new = [round(), round(), Gate("old"), round(), Gate("new"), round()];
    let results = [
        "charged old",
        "charged old",
        "passed old",
        "charged new",
        "passed new",
        "charged new",
    ];
    assert_eq!(
        over(&old, &new).await,
        (results.map(str::to_owned).to_vec(), 2)
    );
}

#[tokio::test]
async fn two_changes_are_decided_each_for_itself() {
    let first = || change("first", &[Reserve("first")], &[]);
    let second = || change("second", &[Reserve("second")], &[]);
    // Deployed one after the other: the history is older than the second only.
    let old = [first(), Charge("a"), Gate("old")];
    let new = [
        first(),
        second(),
        Charge("a"),
        Gate("old"),
        second(),
        Gate("new"),
    ];
    let results = [
        "reserved first",
        "charged a",
        "passed old",
        "reserved second",
        "passed new",
    ];
    assert_eq!(
        over(&old, &new).await,
        (results.map(str::to_owned).to_vec(), 2)
    );
    // And the other way round.
    let old = [second(), Charge("a"), Gate("old")];
    let results = [
        "reserved second",
        "charged a",
        "passed old",
        "reserved second",
        "passed new",
    ];
    assert_eq!(
        over(&old, &new).await,
        (results.map(str::to_owned).to_vec(), 2)
    );
    let nested = [change(
        "first",
        &[change("second", &[Reserve("both")], &[])],
        &[],
    )];
    assert_eq!(fresh(&nested).await, (vec!["reserved both".into()], 2));
}

#[tokio::test]
async fn steps_can_be_added_removed_and_reordered_behind_a_change() {
    let old = [Reserve("a"), Charge("b"), Reserve("c"), Gate("old")];
    let changes: [(&[Line], &[Line]); 3] = [
        (
            &[Charge("b"), Charge("more"), Reserve("c")],
            &[Charge("b"), Reserve("c")],
        ),
        (&[], &[Charge("b"), Reserve("c")]),
        (&[Reserve("c"), Charge("b")], &[Charge("b"), Reserve("c")]),
    ];
    for (now, before) in changes {
        let new = [Reserve("a"), change("x", now, before), Gate("old")];
        let (results, patches) = over(&old, &new).await;
        assert_eq!(
            results,
            ["reserved a", "charged b", "reserved c", "passed old"]
        );
        assert_eq!(patches, 0);
        let expected = 2 + now.len();
        let (results, patches) = fresh(&new).await;
        assert_eq!((results.len(), patches), (expected, 1));
    }
}

#[tokio::test]
async fn once_all_took_the_new_way_the_condition_can_be_deleted() {
    let old = [
        Reserve("a"),
        change("x", &[Charge("new")], &[Charge("old")]),
        Gate("old"),
    ];
    let new = [Reserve("a"), Charge("new"), Gate("old"), Gate("new")];
    let results = ["reserved a", "charged new", "passed old", "passed new"];
    assert_eq!(
        over(&old, &new).await,
        (results.map(str::to_owned).to_vec(), 1)
    );
}

#[tokio::test]
async fn one_that_was_overlooked_blocks_and_goes_on_when_the_condition_is_back() {
    let mut bench = Bench::new();
    let old = [Reserve("a"), Charge("old"), Gate("old")];
    let without = [Reserve("a"), Reserve("new"), Gate("old")];
    let (_skail, execution) = redeployed(&mut bench, &old, &without).await;
    let message = blocked(&execution).await;
    assert!(
        message.contains("put the change behind `if patched(\"…\").await?`"),
        "{message}"
    );
    let back = change("x", &[Reserve("new")], &[Charge("old")]);
    bench.code.deploy(&[Reserve("a"), back, Gate("old")]);
    bench.gates.open("old", 2);
    execution.resume().await.unwrap();
    let results = ["reserved a", "charged old", "passed old"];
    assert_eq!(execution.result().await.unwrap(), results);
}

#[skail_command]
async fn told(name: String) -> anyhow::Result<String> {
    Ok(name)
}

#[skail_function]
async fn joins_a_change_with_steps() -> anyhow::Result<Vec<String>> {
    let changed = async {
        let mut all = vec![told("a".to_owned()).await?];
        if patched("x").await? {
            all.push(told("new".to_owned()).await?);
        }
        anyhow::Ok(all)
    };
    let beside = async {
        let mut all = Vec::new();
        for name in ["b", "c", "d"] {
            all.push(told(name.to_owned()).await?);
        }
        anyhow::Ok(all)
    };
    let (mut all, more) = futures::try_join!(changed, beside)?;
    all.extend(more);
    super::deploying::gate("old".to_owned()).await?;
    Ok(all)
}

#[tokio::test]
async fn a_change_in_one_branch_of_a_join_is_the_same_in_every_replay() {
    let mut bench = Bench::new();
    let mut skail = bench.engine().await;
    let id = ExecutionId::new("join").unwrap();
    skail
        .start(joins_a_change_with_steps())
        .id(&id)
        .await
        .unwrap();
    for life in 1..=3 {
        bench.gates.reached("old", life).await;
        skail = bench.crash(skail).await;
    }
    bench.gates.open("old", 4);
    let execution = skail.execution::<Vec<String>>(&id).await.unwrap();
    assert_eq!(
        execution.result().await.unwrap(),
        ["a", "new", "b", "c", "d"]
    );
    assert_eq!(count(&execution, patch).await, 1);
}
