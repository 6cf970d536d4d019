//! The sled store alone, without an engine above it.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use skail_runtime::ExecutionId;
use skail_runtime::clock::Timestamp;
use skail_runtime::codec::Payload;
use skail_runtime::history::{Event, Status, Step, StepKind};
use skail_runtime::store::{
    Claim, ClaimRequest, Commit, Header, HeaderChange, Lease, NewExecution, SledStore, Store,
};
use skail_runtime::{Position, Sequence, WorkerId};

/// How many executions the short workloads have.
const EXECUTIONS: usize = 10_000;

/// Steps per second of `clients` executions that commit one event after the other.
#[allow(
    clippy::disallowed_methods,
    reason = "a bench measures time and owns its tasks"
)]
pub(crate) async fn commits(clients: usize, dir: &Path) -> anyhow::Result<f64> {
    let store = Arc::new(SledStore::open(dir.join("store"))?);
    create(&store, clients).await?;
    let claims = claim(&store, clients).await?;
    let each = match clients {
        1 => 4_000,
        16 => 2_000,
        _ => 200,
    };
    let start = Instant::now();
    let clients = claims.into_iter().map(|claim| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            for position in 0..each {
                store.commit(step(&claim.lease, position)).await?;
            }
            anyhow::Ok(())
        })
    });
    let clients: Vec<_> = clients.collect();
    let count = clients.len();
    for client in clients {
        client.await??;
    }
    let rate = rate(count * each as usize, start);
    store.close().await?;
    Ok(rate)
}

/// Executions per second that are created, claimed, take one step and complete.
#[allow(
    clippy::disallowed_methods,
    reason = "a bench measures time and owns its tasks"
)]
pub(crate) async fn short(dir: &Path) -> anyhow::Result<f64> {
    const AT_A_TIME: usize = 256;
    let store = Arc::new(SledStore::open(dir.join("store"))?);
    let start = Instant::now();
    let creating = tokio::spawn({
        let store = Arc::clone(&store);
        async move { create(&store, EXECUTIONS).await }
    });
    let mut running = tokio::task::JoinSet::new();
    let mut done = 0;
    while done < EXECUTIONS {
        let room = AT_A_TIME - running.len();
        if room >= AT_A_TIME / 8 {
            for claim in claim(&store, room).await? {
                let store = Arc::clone(&store);
                running.spawn(async move {
                    store.commit(step(&claim.lease, 0)).await?;
                    store.commit(last(&claim.lease)).await
                });
            }
        }
        match running.join_next().await {
            Some(finished) => {
                finished??;
                done += 1;
            }
            None => tokio::task::yield_now().await,
        }
    }
    creating.await??;
    let rate = rate(EXECUTIONS, start);
    store.close().await?;
    Ok(rate)
}

/// Executions per second that a rewriting keeps, of a store from which as many were deleted.
#[allow(
    clippy::disallowed_methods,
    reason = "a bench measures time and owns its tasks"
)]
pub(crate) async fn rewrite(dir: &Path) -> anyhow::Result<f64> {
    short(dir).await?;
    let path = dir.join("store");
    let store = SledStore::open(&path)?;
    let half: Result<Vec<_>, _> = (0..EXECUTIONS / 2)
        .map(|number| ExecutionId::new(format!("order-{number}")))
        .collect();
    store.delete(half?).await?;
    store.close().await?;
    let start = Instant::now();
    let rewritten = SledStore::options().rewrite(&path)?;
    let rate = rate(rewritten.executions, start);
    let (before, after) = (rewritten.size_before >> 10, rewritten.size_after >> 10);
    eprintln!("{before} KiB became {after} KiB");
    Ok(rate)
}

#[allow(
    clippy::disallowed_methods,
    reason = "a bench measures time and owns its tasks"
)]
async fn create(store: &Arc<SledStore>, executions: usize) -> anyhow::Result<()> {
    let creators = (0..256).map(|creator| {
        let store = Arc::clone(store);
        tokio::spawn(async move {
            for number in (creator..executions).step_by(256) {
                store.create(execution(number)?).await?;
            }
            anyhow::Ok(())
        })
    });
    for creator in creators.collect::<Vec<_>>() {
        creator.await??;
    }
    Ok(())
}

async fn claim(store: &SledStore, limit: usize) -> anyhow::Result<Vec<Claim>> {
    let request = ClaimRequest {
        worker: WorkerId::generate(),
        now: Timestamp::from_millis(1),
        until: Timestamp::MAX,
        limit,
        functions: Arc::from(["process_order".to_owned()]),
    };
    Ok(store.claim(request).await?.claims)
}

fn execution(number: usize) -> anyhow::Result<NewExecution> {
    let arguments = Payload::encode(&(format!("customer {number}"), 4_200, "EUR"))?;
    let at = Timestamp::from_millis(0);
    let header = Header {
        id: ExecutionId::new(format!("order-{number}"))?,
        function: "process_order".to_owned(),
        arguments: arguments.digest(),
        status: Status::Running,
        created_at: at,
        updated_at: at,
        due: Some(at),
        tags: std::collections::BTreeMap::new(),
        problem: None,
    };
    let first = Event::Started {
        at,
        function: "process_order".to_owned(),
        arguments,
    };
    Ok(NewExecution { header, first })
}

/// A commit of one step with a result of 100 bytes.
fn step(lease: &Lease, position: u32) -> Commit {
    let arguments = Payload::from_bytes(&[7; 20]);
    let event = Event::CommandCompleted {
        at: Timestamp::from_millis(2),
        step: Step {
            position: Position(position),
            kind: StepKind::Command,
            name: "charge_card".to_owned(),
            digest: arguments.digest(),
            arguments,
        },
        attempts: 1,
        result: Payload::from_bytes(&[9; 100]),
    };
    Commit {
        lease: lease.clone(),
        first: Sequence(u64::from(position) + 1),
        events: vec![event],
        consumed: Vec::new(),
        header: None,
        release: false,
    }
}

fn last(lease: &Lease) -> Commit {
    let at = Timestamp::from_millis(3);
    Commit {
        first: Sequence(2),
        events: vec![Event::Completed {
            at,
            result: Payload::from_bytes(&[9; 20]),
        }],
        header: Some(HeaderChange {
            at,
            status: Status::Completed,
            due: None,
            problem: None,
        }),
        release: true,
        ..step(lease, 1)
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts of some thousands")]
fn rate(count: usize, start: Instant) -> f64 {
    count as f64 / start.elapsed().as_secs_f64()
}
