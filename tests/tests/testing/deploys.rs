//! A deploy under a running execution, one kind of change after the other: what the gate says before it,
//! what the execution is blocked with after it, and that a fixed build takes it up.

use std::sync::{Arc, Mutex};

use skail_runtime::ExecutionError;
use skail_runtime::history::{Event, Status};
use skail_runtime::prelude::*;
use skail_runtime::testing::{TestBuilder, TestSkail};

use super::crashes::Done;
use super::kit::NobodyGivesIt;
use super::shop::{Gateway, Ledger};
use super::verify::Shift;

/// The steps of `deploys`, as the build of the day has them.
type Steps = &'static [fn(u32) -> CommandCall<u32>];

/// Which build is deployed; the function borrows it.
#[derive(Clone)]
pub(crate) struct Build(Arc<Mutex<Steps>>);

impl Build {
    /// For tests of other functions.
    pub(crate) fn nothing() -> Self {
        Self(Arc::new(Mutex::new(&[])))
    }
}

#[skail_command]
async fn pick(order: u32) -> anyhow::Result<u32> {
    Ok(order + 1)
}

#[skail_command]
async fn pack(order: u32) -> anyhow::Result<u32> {
    Ok(order + 10)
}

/// What `pack` is called after a renaming that did not keep its recorded name.
#[skail_command]
async fn wrap(order: u32) -> anyhow::Result<u32> {
    Ok(order + 10)
}

/// Where the old build stands when the new one is deployed.
#[skail_command]
async fn ship(order: u32) -> anyhow::Result<u32> {
    Ok(order + 100)
}

#[skail_function]
async fn deploys(#[state] build: &Build, order: u32) -> anyhow::Result<u32> {
    let steps = *build.0.lock().expect("no panic holds it");
    let mut sum = 0;
    for step in steps {
        sum += step(order).await?;
    }
    Ok(sum)
}

const OLD: Steps = &[pick, pack, ship];

/// One kind of change.
struct Change {
    kind: &'static str,
    new: Steps,
    /// What the message says, unless it is a clean run.
    blocked: Option<&'static str>,
    /// The result of the new build, or of the old one once that is put back.
    result: u32,
}

const CHANGES: [Change; 7] = [
    Change {
        kind: "nothing",
        new: OLD,
        blocked: None,
        result: 8 + 17 + 107,
    },
    Change {
        kind: "a step added at the end",
        new: &[pick, pack, ship, pack],
        blocked: None,
        result: 8 + 17 + 107 + 17,
    },
    Change {
        kind: "a step added in the middle",
        new: &[pick, ship, pack, ship],
        blocked: Some(
            "at position 1 the history holds command `pack` with arguments [7], and the code asked for \
             command `ship` with arguments [7]",
        ),
        result: 8 + 17 + 107,
    },
    Change {
        kind: "a step removed from the middle",
        new: &[pick, ship],
        blocked: Some(
            "at position 1 the history holds command `pack` with arguments [7], and the code asked for \
             command `ship`",
        ),
        result: 8 + 17 + 107,
    },
    Change {
        kind: "a step removed from the end of what is recorded",
        new: &[pick],
        blocked: Some(
            "at position 1 the history holds command `pack` with arguments [7], and the code asked for 1 \
             steps only",
        ),
        result: 8 + 17 + 107,
    },
    Change {
        kind: "a step renamed",
        new: &[pick, wrap, ship],
        blocked: Some(
            "at position 1 the history holds command `pack` with arguments [7], and the code asked for \
             command `wrap`",
        ),
        result: 8 + 17 + 107,
    },
    Change {
        kind: "two steps in another order",
        new: &[pack, pick, ship],
        blocked: Some(
            "at position 0 the history holds command `pick` with arguments [7], and the code asked for \
             command `pack`",
        ),
        result: 8 + 17 + 107,
    },
];

/// A test in which `ship` hangs while `hangs` says so.
fn test(build: &Build, hangs: &Arc<Mutex<bool>>) -> TestBuilder {
    let hangs = Arc::clone(hangs);
    TestSkail::builder()
        .state(build.clone())
        .replace::<ship>()
        .with_async(move |(order,)| {
            let hangs = *hangs.lock().unwrap();
            async move {
                if hangs {
                    std::future::pending::<()>().await;
                }
                Ok(order + 100)
            }
        })
}

#[tokio::test]
async fn each_kind_of_change_is_a_clean_run_or_a_block_that_a_fixed_build_takes_up() {
    for change in CHANGES {
        let kind = change.kind;
        let build = Build(Arc::new(Mutex::new(OLD)));
        let hangs = Arc::new(Mutex::new(true));
        let mut test = test(&build, &hangs).start().await.unwrap();
        let id = "order-7";
        test.skail().start(deploys(7)).id(id).await.unwrap();
        while test.runs_of::<ship>() == 0 {
            tokio::task::yield_now().await;
        }

        *build.0.lock().unwrap() = change.new;
        test.skail().kill().await;
        let gate = Skail::builder().store(test.store().crash());
        let gate = gate.state(build.clone()).state(Gateway);
        let gate = gate.state(Ledger::default()).state(Done::default());
        let gate = gate.state(Shift(0)).state(NobodyGivesIt);
        let verification = gate.verify().await.unwrap();
        assert_eq!(verification.checked, 1, "{kind}");

        *hangs.lock().unwrap() = false;
        let runs = test.runs_of::<pick>() + test.runs_of::<pack>();
        test.restart().await.unwrap();
        let execution = test.skail().execution::<u32>(id).await.unwrap();
        let came = execution.result().await;
        let Some(says) = change.blocked else {
            assert!(verification.is_clean(), "{kind}: {verification}");
            assert_eq!(came.unwrap(), change.result, "{kind}");
            continue;
        };
        let Err(ExecutionError::Blocked { message, .. }) = came else {
            panic!("{kind}: {came:?}")
        };
        assert!(message.contains(says), "{kind}: {message}");
        assert!(message.contains("then resume"), "{kind}: {message}");
        assert!(!verification.is_clean(), "{kind}");
        let foretold: Vec<_> = verification.diverging.iter().collect();
        assert_eq!(foretold[0].message, message, "{kind}: the same words");
        assert_eq!(foretold[0].execution.as_str(), id, "{kind}");

        // The code put back, or any other that asks for the recorded steps.
        *build.0.lock().unwrap() = OLD;
        execution.resume().await.unwrap();
        assert_eq!(execution.result().await.unwrap(), change.result, "{kind}");
        let again = test.runs_of::<pick>() + test.runs_of::<pack>();
        assert_eq!(again, runs, "{kind}: nothing recorded ran again");
        let burnt = |event: &Event| matches!(event, Event::FunctionAttemptFailed { .. });
        let history = execution.history().await.unwrap();
        assert!(!history.iter().any(burnt), "{kind}");
        assert_eq!(execution.status().await.unwrap(), Status::Completed);
    }
}
