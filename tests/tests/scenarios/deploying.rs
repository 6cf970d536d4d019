//! A function whose code a test can change under its executions.

use futures::future::BoxFuture;
use skail_runtime::ExecutionError;
use skail_runtime::prelude::*;

use super::support::Line::{
    Both, Bound, BoundGate, Charge, Gate, Now, Patched, Random, Record, Reserve, Sleep, SleepUntil,
    Uuid,
};
use super::support::{Bench, Code, Gates, Line, Runs};

#[skail_command]
pub(crate) async fn reserve(#[state] runs: &Runs, what: String) -> anyhow::Result<String> {
    runs.count(&format!("reserve {what}"));
    Ok(format!("reserved {what}"))
}

#[skail_command]
async fn charge(#[state] runs: &Runs, what: String) -> anyhow::Result<String> {
    runs.count(&format!("charge {what}"));
    Ok(format!("charged {what}"))
}

#[skail_command]
pub(crate) async fn gate(#[state] gates: &Gates, name: String) -> anyhow::Result<String> {
    gates.pass(&name).await;
    Ok(format!("passed {name}"))
}

#[skail_function]
pub(crate) async fn deployed(#[state] code: &Code) -> anyhow::Result<Vec<String>> {
    let mut results = Vec::new();
    run(code.lines(), &mut results).await?;
    Ok(results)
}

fn run(lines: Vec<Line>, results: &mut Vec<String>) -> BoxFuture<'_, anyhow::Result<()>> {
    Box::pin(async move {
        for line in lines {
            match line {
                Reserve(what) => results.push(reserve(what.to_owned()).await?),
                Charge(what) => results.push(charge(what.to_owned()).await?),
                Gate(name) => results.push(gate(name.to_owned()).await?),
                Both(one, other) => {
                    let both = (reserve(one.to_owned()), reserve(other.to_owned()));
                    let (one, other) = futures::try_join!(both.0, both.1)?;
                    results.extend([one, other]);
                }
                Now => {
                    now().await?;
                }
                Random => {
                    random::<u8>().await?;
                }
                Uuid => {
                    uuid().await?;
                }
                Record(name) => results.push(record(name, || name.to_uppercase()).await?),
                Sleep(wait) => sleep(wait).await?,
                SleepUntil(time) => sleep_until(time).await?,
                Bound(most, what) => {
                    results.push(timeout(most, charge(what.to_owned())).await??);
                }
                BoundGate(most, name) => {
                    let passed = timeout(most, gate(name.to_owned())).await;
                    results.push(passed.unwrap_or_else(|_| Ok("elapsed".to_owned()))?);
                }
                Patched(id, new, old) => {
                    let lines = if patched(id).await? { new } else { old };
                    run(lines, results).await?;
                }
            }
        }
        Ok(())
    })
}

/// Runs `old` up to its gate, then deploys `new` and restarts.
pub(crate) async fn redeployed(
    bench: &mut Bench,
    old: &[Line],
    new: &[Line],
) -> (Skail, Execution<Vec<String>>) {
    bench.code.deploy(old);
    let skail = bench.engine().await;
    let id = ExecutionId::new("deployed").unwrap();
    skail.start(deployed()).id(&id).await.unwrap();
    bench.gates.reached("old", 1).await;
    bench.code.deploy(new);
    let skail = bench.crash(skail).await;
    let execution = skail.execution(&id).await.unwrap();
    (skail, execution)
}

/// What it is blocked with.
pub(crate) async fn blocked<T: serde::de::DeserializeOwned>(execution: &Execution<T>) -> String {
    match execution.result().await.map(drop).unwrap_err() {
        ExecutionError::Blocked { message, .. } => message,
        error => panic!("{error}"),
    }
}
