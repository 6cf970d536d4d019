//! A crash before and after each commit of a function, and whether anybody can tell.
//!
//! Owns the comparison of runs. Must never decide what is right: the run without a crash says that.

use std::fmt::{self, Debug};

use serde::de::DeserializeOwned;

use super::builder::TestBuilder;
use super::clock::in_real_time;
use super::crash_store::{CrashPoint, Moment};
use super::difference::difference;
use super::kit::{TestError, TestSkail};
use crate::engine::FunctionCall;
use crate::execution::ExecutionError;
use crate::history::Event;
use crate::skail::BuildError;

/// Runs a function once without a crash, to see its result, its effects and how many commits it makes;
/// then again and again, each time with a crash before or after one of the commits and a restart on what
/// was durable. Result and effects must be the same every time.
///
/// - `call` makes the call of the function: the same one each time.
/// - `setup` makes the world of one run: a [`TestBuilder`] with fresh state, and a closure that tells, at
///   the end, what was done in that world. Where an effect may happen twice without harm, because its
///   receiver knows the idempotency key, tell what the receiver makes of it. Without effects it is `|| ()`.
///
/// A crash before the commit of a result is a crash between a command's effect and its record. That is the
/// one after which the body runs again: commands whose effects add up are found out.
///
/// ```standalone_crate
/// use std::collections::BTreeMap;
/// use std::sync::{Arc, Mutex};
///
/// use skail_runtime::prelude::*;
/// use skail_runtime::testing::{TestSkail, crash_everywhere};
///
/// /// What the gateway has in its books.
/// #[derive(Clone, Default)]
/// struct Books(Arc<Mutex<BTreeMap<String, u32>>>);
///
/// #[skail_command]
/// async fn charge(#[state] books: &Books, order: u32, cents: u32) -> anyhow::Result<String> {
///     // It takes the key, and a second charge under the same one is none.
///     let key = idempotency_key();
///     books.0.lock().expect("no panic holds it").insert(key, cents);
///     Ok(format!("receipt of {order}"))
/// }
///
/// #[skail_function]
/// async fn process(order: u32) -> anyhow::Result<String> {
///     Ok(charge(order, 1995).await?)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anyhow::Result<()> {
/// let report = crash_everywhere(
///     || process(42),
///     || {
///         let books = Books::default();
///         let test = TestSkail::builder().state(books.clone());
///         (test, move || books.0.lock().expect("no panic holds it").clone())
///     },
/// )
/// .await?;
/// // One commit for the charge, one for the end; a crash before and after each.
/// assert_eq!((report.commits, report.crashes), (2, 4));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`CrashError::Difference`] for the first crash that can be told from none: it names the commit, the step
/// and what differed. [`CrashError::Stuck`] if a run does not end within a minute of real time. Else what
/// kept the test from running at all. An execution that fails is no error of this: it is a result, and has
/// to be the same every time.
///
/// # Panics
/// Outside a tokio runtime.
pub async fn crash_everywhere<T, Effects, Snapshot>(
    call: impl Fn() -> FunctionCall<T>,
    setup: impl Fn() -> (TestBuilder, Snapshot),
) -> Result<CrashReport, CrashError>
where
    T: DeserializeOwned + Debug + PartialEq + Send,
    Effects: Debug + PartialEq,
    Snapshot: Fn() -> Effects,
{
    let clean = live(&call, &setup, None).await?;
    let commits = clean.commits;
    let mut crashes = 0;
    for commit in 0..commits {
        for moment in [Moment::Before, Moment::After] {
            let point = CrashPoint { commit, moment };
            let crashed = live(&call, &setup, Some(point)).await?;
            crashes += u64::from(crashed.died_at.is_some());
            let place = || place(point, commits, crashed.died_at.as_deref());
            if crashed.result != clean.result {
                return Err(CrashError::Difference {
                    place: place(),
                    what: "another result",
                    differs: difference(&clean.result, &crashed.result),
                });
            }
            if crashed.effects != clean.effects {
                let hint = match moment {
                    Moment::Before => AGAIN,
                    Moment::After => "",
                };
                let differs = difference(&clean.effects, &crashed.effects);
                return Err(CrashError::Difference {
                    place: place(),
                    what: "other effects",
                    differs: format!("{differs}{hint}"),
                });
            }
        }
    }
    Ok(CrashReport { commits, crashes })
}

const AGAIN: &str = "\nA body that had its effect when the process died, and whose result was not recorded \
                     yet, runs again: let whoever receives the effect know it by `idempotency_key()`.";

/// What a whole run came to.
struct Life<T, Effects> {
    /// An error by its text: it holds what failed, and how often it was tried.
    result: Result<T, String>,
    effects: Effects,
    commits: u64,
    /// The events of the commit at which it died, if it did.
    died_at: Option<Vec<Event>>,
}

async fn live<T, Effects, Snapshot>(
    call: &impl Fn() -> FunctionCall<T>,
    setup: &impl Fn() -> (TestBuilder, Snapshot),
    crash: Option<CrashPoint>,
) -> Result<Life<T, Effects>, CrashError>
where
    T: DeserializeOwned + Send,
    Snapshot: Fn() -> Effects,
{
    let (builder, snapshot) = setup();
    let mut test = TestSkail::start(builder.make(), crash).await?;
    let watch = test.watch().clone();
    let first = tokio::select! {
        biased;
        () = watch.crashed() => None,
        ended = ended(&test, call(), crash) => Some(ended?),
    };
    let commits = watch.commits();
    let (result, died_at) = match first {
        Some(result) => (result, None),
        None => {
            test.restart().await?;
            (ended(&test, call(), crash).await?, Some(watch.last_words()))
        }
    };
    // Bodies that nobody waits for may still be at work: they are not to change what is looked at.
    test.skail().kill().await;
    Ok(Life {
        result,
        effects: snapshot(),
        commits,
        died_at,
    })
}

async fn ended<T: DeserializeOwned + Send>(
    test: &TestSkail,
    call: FunctionCall<T>,
    crash: Option<CrashPoint>,
) -> Result<Result<T, String>, CrashError> {
    let run = in_real_time(test.run_as("test-1", call)).await;
    match run.ok_or(CrashError::Stuck { crash })? {
        Ok(result) => Ok(Ok(result)),
        Err(TestError::Execution(
            error @ (ExecutionError::Failed { .. } | ExecutionError::Blocked { .. }),
        )) => Ok(Err(error.to_string())),
        Err(error) => Err(CrashError::Test(error)),
    }
}

fn place(point: CrashPoint, commits: u64, died_at: Option<&[Event]>) -> String {
    let number = point.commit + 1;
    match died_at {
        None => format!("in a run that came to its end before commit {number}, without a crash"),
        Some(events) => format!(
            "with a crash {} commit {number} of {commits}, which records {}",
            point.moment,
            told(events)
        ),
    }
}

/// What a commit records, in words.
fn told(events: &[Event]) -> String {
    let told: Vec<String> = events.iter().map(of_event).collect();
    match told.is_empty() {
        true => "that everything waits".to_owned(),
        false => told.join(", and "),
    }
}

fn of_event(event: &Event) -> String {
    let step = event.step().map_or_else(String::new, |step| {
        format!(
            "{} `{}` at position {}",
            step.kind, step.name, step.position
        )
    });
    match event {
        Event::Started { function, .. } => format!("that `{function}` was started"),
        Event::CommandStarted { attempt, .. } => format!("that attempt {attempt} of {step} starts"),
        Event::CommandAttemptFailed { attempt, .. } => {
            format!("that attempt {attempt} of {step} failed")
        }
        Event::CommandCompleted { .. } => format!("the result of {step}"),
        Event::CommandFailed { .. } => format!("that {step} failed for good"),
        Event::ValueRecorded { .. } => format!("the {step}"),
        Event::TimerSet { .. } => format!("that the {step} began"),
        Event::TimerFired { .. } => format!("that the {step} is over"),
        Event::StepFailed { .. } => format!("that the {step} failed"),
        Event::Patched { id, .. } => format!("that the new way of `{id}` is taken"),
        Event::FunctionAttemptFailed { attempt, .. } => {
            format!("that attempt {attempt} of the function failed")
        }
        Event::Blocked { .. } => "that the execution is blocked".to_owned(),
        Event::Resumed { .. } => "that it was resumed".to_owned(),
        Event::Completed { .. } => "the function's result".to_owned(),
    }
}

/// What [`crash_everywhere`] has been through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CrashReport {
    /// The commits that the function makes.
    pub commits: u64,
    /// The crashes that it was put through: two for each commit, unless it makes fewer commits in some
    /// runs than in the first.
    pub crashes: u64,
}

/// Why [`crash_everywhere`] is not content. Its `Debug` is its text, so that `unwrap` shows it readably.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CrashError {
    /// A crash made a difference.
    #[error("{place}: {what} than without a crash:\n{differs}")]
    Difference {
        /// Which crash, and what was being recorded.
        place: String,
        /// What differs: "another result" or "other effects".
        what: &'static str,
        /// Both, line by line: `-` without a crash, `+` with it.
        differs: String,
    },
    /// A run did not end within a minute of real time.
    #[error(
        "a run {} did not end within a minute of real time: some body waits for what does not come",
        .crash.map_or("without a crash".to_owned(), |point| format!("with a crash {} commit {}", point.moment, point.commit + 1))
    )]
    Stuck {
        /// The crash, if it was one with a crash.
        crash: Option<CrashPoint>,
    },
    /// The engine could not be put together.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The test could not run.
    #[error(transparent)]
    Test(TestError),
}

impl Debug for CrashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
