//! A store full of executions that somebody looks through: what each page costs, and what it takes of
//! memory.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use serde::Serialize;
use skail_runtime::clock::Timestamp;
use skail_runtime::codec::Payload;
use skail_runtime::history::{Event, Status};
use skail_runtime::store::{
    ClaimRequest, Commit, Found, Header, HeaderChange, NewExecution, Place, Search, SledStore,
    Store,
};
use skail_runtime::{ExecutionId, Sequence, WorkerId};

use super::{kib_in_memory, kib_on_disk, rounded};

/// What was measured at one size; each figure in milliseconds is the median over pages.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    workload: &'static str,
    executions: u32,
    created_and_ended_per_s: f64,
    /// Opening the store again.
    open_ms: f64,
    counts_ms: f64,
    newest_ms: f64,
    failed_ms: f64,
    function_ms: f64,
    time_ms: f64,
    prefix_ms: f64,
    tag_ms: f64,
    /// Words that are in few problems: a page looks at a bounded number of executions.
    words_ms: f64,
    /// The pages behind the first.
    next_ms: f64,
    /// What all these pages added to the process.
    kib_in_memory: u64,
    kib_on_disk: u64,
}

/// What a page of the Monitor holds.
const PAGE: usize = 50;

/// How many pages each median is of.
const PAGES: usize = 41;

const FUNCTIONS: [&str; 4] = ["process_order", "send_invoice", "settle", "import"];

pub(crate) fn run(executions: u32, dir: &Path) -> anyhow::Result<Line> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(measure(executions, dir))
}

#[allow(clippy::disallowed_methods, reason = "a bench measures time")]
async fn measure(executions: u32, dir: &Path) -> anyhow::Result<Line> {
    let path = dir.join("store");
    let store = SledStore::open(&path)?;
    let start = Instant::now();
    fill(&store, executions).await?;
    let filled = start.elapsed();
    store.close().await?;
    drop(store);

    let start = Instant::now();
    let store = SledStore::open(&path)?;
    let open_ms = start.elapsed().as_secs_f64() * 1e3;
    let before = kib_in_memory();
    let mut counting = Vec::new();
    for _ in 0..PAGES {
        let start = Instant::now();
        store.counts().await?;
        counting.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let last = executions - 1;
    let all = Search::default();
    let status = |status| Search {
        status: Some(status),
        ..Search::default()
    };
    let pages = Pages { store: &store };
    let line = Line {
        workload: "searches",
        executions,
        created_and_ended_per_s: rounded(f64::from(executions) / filled.as_secs_f64()),
        open_ms: rounded(open_ms),
        counts_ms: median(counting),
        newest_ms: pages.first(&all).await?,
        failed_ms: pages.first(&status(Status::Failed)).await?,
        function_ms: pages
            .first(&Search {
                function: Some("settle".to_owned()),
                ..all.clone()
            })
            .await?,
        time_ms: pages
            .first(&Search {
                started_before: Some(at(executions / 2)),
                ..all.clone()
            })
            .await?,
        prefix_ms: pages
            .first(&Search {
                prefix: Some(format!("order-{:05}", last / 100)),
                ..all.clone()
            })
            .await?,
        tag_ms: pages
            .first(&Search {
                tag: Some(("customer".to_owned(), "17".to_owned())),
                ..all.clone()
            })
            .await?,
        words_ms: pages
            .first(&Search {
                text: Some("flood".to_owned()),
                ..all.clone()
            })
            .await?,
        next_ms: pages.following(&status(Status::Completed)).await?,
        kib_in_memory: kib_in_memory().saturating_sub(before),
        kib_on_disk: kib_on_disk(dir)?,
    };
    store.close().await?;
    Ok(line)
}

struct Pages<'a> {
    store: &'a SledStore,
}

impl Pages<'_> {
    #[allow(clippy::disallowed_methods, reason = "a bench measures time")]
    async fn page(&self, search: &Search, after: Option<Place>) -> anyhow::Result<(Found, f64)> {
        let search = Search {
            after,
            limit: PAGE,
            ..search.clone()
        };
        let start = Instant::now();
        let found = self.store.find(search).await?;
        Ok((found, start.elapsed().as_secs_f64() * 1e3))
    }

    /// The first page, again and again.
    async fn first(&self, search: &Search) -> anyhow::Result<f64> {
        let mut taken = Vec::new();
        for _ in 0..PAGES {
            taken.push(self.page(search, None).await?.1);
        }
        Ok(median(taken))
    }

    /// One page after the other.
    async fn following(&self, search: &Search) -> anyhow::Result<f64> {
        let (mut found, _) = self.page(search, None).await?;
        let mut taken = Vec::new();
        while let Some(next) = found.next.take()
            && taken.len() < PAGES
        {
            let (page, ms) = self.page(search, Some(next)).await?;
            found = page;
            taken.push(ms);
        }
        Ok(median(taken))
    }
}

fn median(mut taken: Vec<f64>) -> f64 {
    taken.sort_by(f64::total_cmp);
    rounded(taken.get(taken.len() / 2).copied().unwrap_or(0.0))
}

fn at(number: u32) -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000 + i64::from(number) * 100)
}

/// Creates all executions and brings nearly all of them to rest, one in fifty by a failure.
async fn fill(store: &SledStore, executions: u32) -> anyhow::Result<()> {
    let creations = (0..executions).map(|number| async move {
        store.create(execution(number)?).await?;
        anyhow::Ok(())
    });
    stream::iter(creations)
        .buffer_unordered(512)
        .try_collect::<()>()
        .await?;
    let functions: Arc<[String]> = FUNCTIONS.map(str::to_owned).into();
    let worker = WorkerId::generate();
    // The newest few go on running.
    let now = at(executions - executions / 1_000 - 1);
    loop {
        let request = ClaimRequest {
            worker,
            now,
            until: Timestamp::MAX,
            limit: 512,
            functions: Arc::clone(&functions),
        };
        let claims = store.claim(request).await?.claims;
        if claims.is_empty() {
            return Ok(());
        }
        let ends = claims.into_iter().map(|claim| async move {
            let number: u32 = claim.lease.execution.as_str()["order-".len()..].parse()?;
            let at = at(number);
            let (status, problem) = match number % 50 {
                7 if number % 1_000 == 7 => {
                    (Status::Failed, Some("the warehouse has a flood".to_owned()))
                }
                7 => (
                    Status::Failed,
                    Some("the gateway said 503 Service Unavailable".to_owned()),
                ),
                _ => (Status::Completed, None),
            };
            let end = Event::Completed {
                at,
                result: Payload::encode(&"done")?,
            };
            let commit = Commit {
                lease: claim.lease,
                first: Sequence(1),
                events: vec![end],
                consumed: Vec::new(),
                header: Some(HeaderChange {
                    at,
                    status,
                    due: None,
                    problem,
                }),
                release: true,
            };
            store.commit(commit).await?;
            anyhow::Ok(())
        });
        stream::iter(ends)
            .buffer_unordered(512)
            .try_collect::<()>()
            .await?;
    }
}

fn execution(number: u32) -> anyhow::Result<NewExecution> {
    let (at, function) = (at(number), FUNCTIONS[number as usize % FUNCTIONS.len()]);
    let arguments = Payload::encode(&(number, 1995, "Quai de la Tournelle 12, Paris"))?;
    let header = Header {
        id: ExecutionId::new(format!("order-{number:07}"))?,
        function: function.to_owned(),
        arguments: arguments.digest(),
        status: Status::Running,
        created_at: at,
        updated_at: at,
        due: Some(at),
        tags: [("customer".to_owned(), (number % 1_000).to_string())].into(),
        problem: None,
    };
    let first = Event::Started {
        at,
        function: function.to_owned(),
        arguments,
    };
    Ok(NewExecution { header, first })
}
