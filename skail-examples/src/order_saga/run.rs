//! One run of the program, from the file of orders to the audit.
//!
//! Owns the order of things: everything is read and checked, and the store locked for this process,
//! before anything starts; the audit comes when every order has ended. It must never decide how an
//! order ends.
#![allow(
    clippy::disallowed_methods,
    reason = "the user times his own run on the real clock"
)]

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use futures::{StreamExt, TryStreamExt, stream};
use skail_runtime::prelude::*;
use skail_runtime::store::SledStore;

use super::audit::{Outcomes, audit};
use super::cli::Cli;
use super::data_dir::DataDir;
use super::functions::process_order;
use super::outcome::Outcome;
use super::progress::Progress;
use super::steps::Steps;
use super::summary::{Counts, Summary};
use crate::gateway::{Gateway, GatewayClient};
use crate::requests::RequestLog;
use crate::shop::orders::Invoice;
use crate::shop::warehouse::Warehouse;
use crate::shop::{read, stock};

/// The orders that are processed if no others are named.
const BUNDLED: (&str, &[u8]) = (
    "online-retail-2010-12.csv (bundled)",
    include_bytes!("../../data/online-retail-2010-12.csv"),
);

/// How many orders are awaited at the same time.
const AWAITED: usize = 2_000;

/// How many of them Skail works on at the same time; the others wait in the store. When the process
/// is killed, what is lost is what these were just doing.
const RUNNING: usize = 50;

const DISAGREES: u8 = 1;
const NOT_STARTED: u8 = 2;
/// What a shell reports for a program that was ended with Ctrl-C.
const INTERRUPTED: u8 = 130;

/// Runs the program and says how it went.
pub async fn main(cli: &Cli) -> ExitCode {
    let (shop, invoices) = match Shop::open(cli).await {
        Ok(opened) => opened,
        Err(error) => return failed(&error, NOT_STARTED),
    };
    let ended = tokio::select! {
        outcomes = shop.process(invoices) => match outcomes {
            Ok(outcomes) => shop.close(&outcomes).await,
            Err(error) => Err(error),
        },
        _ = tokio::signal::ctrl_c() => return shop.interrupt().await,
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(DISAGREES),
        Err(error) => failed(&error, DISAGREES),
    }
}

fn failed(error: &anyhow::Error, code: u8) -> ExitCode {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // Many errors quote their cause already.
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    eprintln!("error: {text}");
    ExitCode::from(code)
}

/// Everything that is open during a run.
struct Shop {
    skail: Skail,
    client: GatewayClient,
    warehouse: Warehouse,
    requests: Arc<RequestLog>,
    steps: Steps,
    since: Instant,
    /// The gateway serves for as long as this lives.
    _gateway: Gateway,
}

impl Shop {
    /// Reads the orders and opens everything else. Until the last line nothing has been started.
    async fn open(cli: &Cli) -> anyhow::Result<(Self, Vec<Invoice>)> {
        let loaded;
        let (path, bytes) = match &cli.orders {
            None => (Path::new(BUNDLED.0), BUNDLED.1),
            Some(path) => {
                loaded = read::load(path)?;
                (path.as_path(), loaded.as_slice())
            }
        };
        let invoices = read::parse(path, bytes)?;

        let data = DataDir::open(&cli.data)?;
        // Locks the directory for this process, so it comes before everything else that is in it.
        let store = SledStore::open(data.store())?;
        data.claim(path, bytes)?;
        let requests = Arc::new(RequestLog::open(&data.requests())?);
        let shelves = stock::shelves(&invoices);
        let warehouse = Warehouse::open(&data.stock(), shelves, Arc::clone(&requests))?;
        let gateway = Gateway::start(
            &data.ledger(),
            Arc::clone(&requests),
            cli.gateway_faults,
            cli.seed,
        )
        .await?;
        let client = GatewayClient::new(gateway.url())?;
        let steps = Steps::new(cli.kill_after);

        let since = Instant::now();
        let skail = Skail::builder()
            .store(store)
            .max_running_executions(RUNNING)
            .state(warehouse.clone())
            .state(client.clone())
            .state(steps.clone())
            .start()
            .await?;
        let shop = Self {
            skail,
            client,
            warehouse,
            requests,
            steps,
            since,
            _gateway: gateway,
        };
        Ok((shop, invoices))
    }

    /// Sees every order to its end. Those that a run before this one began or ended are not begun
    /// again: their invoice is their id.
    async fn process(&self, invoices: Vec<Invoice>) -> anyhow::Result<Outcomes> {
        let progress = Progress::start(invoices.len());
        let mut counts = Counts::default();
        let mut outcomes = Outcomes::new();
        let mut ended = stream::iter(invoices)
            .map(|invoice| self.outcome(invoice))
            .buffer_unordered(AWAITED);
        while let Some((invoice, outcome)) = ended.try_next().await? {
            counts.add(&outcome);
            progress.show(&counts, self.steps.finished());
            outcomes.insert(invoice, outcome);
        }
        Ok(outcomes)
    }

    async fn outcome(&self, invoice: Invoice) -> anyhow::Result<(String, Result<Outcome, String>)> {
        let id = invoice.id.clone();
        let execution = self
            .skail
            .start(process_order(invoice))
            .id(id.as_str())
            .await
            .with_context(|| format!("invoice {id} cannot be started"))?;
        let result = execution.result().await;
        Ok((
            id,
            result.map_err(|error| format!("{:#}", anyhow::Error::from(error))),
        ))
    }

    /// Compares with the world outside and writes the summary. `false` if something does not agree.
    async fn close(&self, outcomes: &Outcomes) -> anyhow::Result<bool> {
        let took = self.since.elapsed();
        self.skail.shutdown().await?;
        let ledger = self.client.ledger().await?;
        let mismatches = audit(outcomes, &ledger, &self.warehouse.standing());
        let mut counts = Counts::default();
        outcomes.values().for_each(|outcome| counts.add(outcome));
        let summary = Summary {
            counts,
            requests: self.requests.counts(),
            steps: self.steps.finished(),
            took,
            mismatches: &mismatches,
        };
        match io::stdout()
            .lock()
            .write_all(summary.to_string().as_bytes())
        {
            // Whoever closed the pipe has read enough; the exit code still counts.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(error).context("the summary cannot be written")
            }
            _ => Ok(mismatches.is_empty()),
        }
    }

    /// Stops in good order, or at once if the user insists.
    async fn interrupt(&self) -> ExitCode {
        eprintln!("interrupted: what runs may end, Ctrl-C again stops at once");
        let stopped = tokio::select! {
            stopped = self.skail.shutdown() => stopped,
            _ = tokio::signal::ctrl_c() => Ok(()),
        };
        match stopped {
            Ok(()) => {
                eprintln!("start again with the same --data to go on");
                ExitCode::from(INTERRUPTED)
            }
            Err(error) => failed(&error.into(), INTERRUPTED),
        }
    }
}
