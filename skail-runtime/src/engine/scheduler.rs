//! Claims executions that are due and gives each a driver, within the bound.
//!
//! Owns the drivers' tasks, the leases' renewal and the order of a shutdown. Must never look into a
//! history.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};

use super::claimed;
use super::reach::{STORE_BACKOFF, reach};
use super::recorder::Stop;
use super::retention;
use super::shared::Shared;
use super::waiters::Ending;
use crate::clock::{Timestamp, WorkGuard};
use crate::ids::ExecutionId;
use crate::store::{Change, ClaimRequest, Lease, StoreError};

/// One execution that is in memory.
struct Working {
    id: ExecutionId,
    lease: Lease,
    driver: AbortHandle,
}

type DriverEnd = (Result<(), Stop>, Option<WorkGuard>);

/// See the module.
pub(crate) struct Scheduler {
    shared: Arc<Shared>,
    drivers: JoinSet<DriverEnd>,
    working: HashMap<Id, Working>,
    /// Leases of executions that cannot be worked on: kept, so that this process does not claim them
    /// again and again.
    set_aside: Vec<Lease>,
    stopping: watch::Receiver<bool>,
    /// When the leases are to be renewed.
    renew_at: Timestamp,
    /// When to try that again, if it failed then.
    renew_again_at: Option<Timestamp>,
    /// How often in a row the store could not be reached.
    failures: u32,
    /// Holds a virtual clock still while there is anything to do here.
    awake: Option<WorkGuard>,
}

/// What the scheduler woke up for.
enum Woken {
    Ended(Result<(Id, DriverEnd), JoinError>),
    Changed(Option<Change>),
    Due,
    Renew,
    Stopping,
}

impl Scheduler {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let stopping = shared.stopping.subscribe();
        let awake = Some(shared.clock.working());
        let renew_at = next_renewal(&shared);
        Self {
            shared,
            drivers: JoinSet::new(),
            working: HashMap::new(),
            set_aside: Vec::new(),
            stopping,
            renew_at,
            renew_again_at: None,
            failures: 0,
            awake,
        }
    }

    /// Runs until the shutdown is through or the store is gone.
    pub(crate) async fn run(mut self) -> Result<(), StoreError> {
        let mut background = JoinSet::new();
        self.tidy_up(&mut background);
        let ended = self.work().await;
        // What was deleted is deleted; the rest has time.
        background.shutdown().await;
        if let Err(error) = &ended {
            tracing::error!(%error, "the engine stops");
            self.drivers.shutdown().await;
            self.shared.waiters.close(error);
        }
        ended
    }

    #[allow(clippy::disallowed_methods, reason = "the scheduler owns the task")]
    fn tidy_up(&self, background: &mut JoinSet<()>) {
        background.spawn(retention::run(Arc::clone(&self.shared)));
    }

    async fn work(&mut self) -> Result<(), StoreError> {
        let mut changes = self.shared.store.changes();
        // Whether there may be something to claim.
        let mut look = true;
        let mut next_due = None;
        loop {
            let stopping = self.shared.is_stopping();
            if stopping && self.working.is_empty() {
                let leases = std::mem::take(&mut self.set_aside);
                let release = || self.shared.store.release(leases.clone());
                return reach(&self.shared, release).await;
            }
            if look && !stopping && self.free() > 0 {
                (look, next_due) = match self.look().await {
                    Ok(found) => found,
                    Err(error) => (false, Some(self.later(error)?)),
                };
                if look {
                    continue;
                }
            }
            // The end of time is never: an execution that waits for it waits for a message.
            let due = next_due.filter(|due| *due < Timestamp::MAX);
            let due = due.filter(|_| !stopping && self.free() > 0);
            let renew = (!self.working.is_empty() || !self.set_aside.is_empty())
                .then_some(self.renew_again_at.unwrap_or(self.renew_at));
            match self.sleep(&mut changes, due, renew, stopping).await {
                Woken::Ended(ended) => {
                    self.ended(ended)?;
                    // Those that end together are taken together: one claim fills all their places.
                    while let Some(ended) = self.drivers.try_join_next_with_id() {
                        self.ended(ended)?;
                    }
                    look = true;
                }
                Woken::Changed(Some(change)) => look |= self.changed(change),
                Woken::Changed(None) => return Err(StoreError::Closed),
                Woken::Due => look = true,
                Woken::Renew => {
                    if let Err(error) = self.renew().await {
                        self.renew_again_at = Some(self.later(error)?);
                    }
                }
                Woken::Stopping => {}
            }
        }
    }

    fn free(&self) -> usize {
        self.shared
            .settings
            .max_executions
            .saturating_sub(self.working.len())
    }

    /// Claims what is due, and finds out when to look again. `true` if there may be more now.
    async fn look(&mut self) -> Result<(bool, Option<Timestamp>), StoreError> {
        if self.renew_at <= self.shared.clock.now() {
            // Late: the machine slept, its clock was set, or the store was out of reach. Our own leases
            // may have ended, and a claim would take them from our own drivers.
            self.renew().await?;
        }
        let more = self.claim().await?;
        let next_due = self.shared.store.next_due(self.shared.clock.now()).await?;
        self.failures = 0;
        Ok((more, next_due))
    }

    /// When to try again what the store could not be reached for.
    fn later(&mut self, error: StoreError) -> Result<Timestamp, StoreError> {
        let StoreError::Unavailable { .. } = error else {
            return Err(error);
        };
        tracing::warn!(%error, "trying again");
        let delay = STORE_BACKOFF.delay(self.failures, None, self.shared.random());
        self.failures = self.failures.saturating_add(1);
        Ok(self.shared.clock.now().saturating_add(delay))
    }

    fn lease_end(&self) -> Timestamp {
        self.shared
            .clock
            .now()
            .saturating_add(self.shared.settings.lease)
    }

    /// Claims what is due, up to the bound. `true` if there may be more.
    #[allow(clippy::disallowed_methods, reason = "the scheduler owns the drivers")]
    async fn claim(&mut self) -> Result<bool, StoreError> {
        let limit = self.free();
        let claimed = self
            .shared
            .store
            .claim(ClaimRequest {
                worker: self.shared.worker,
                now: self.shared.clock.now(),
                until: self.lease_end(),
                limit,
                functions: self.shared.registry.function_names(),
            })
            .await?;
        for error in claimed.damaged {
            tracing::error!(%error, "an execution is passed over");
            if let StoreError::Damaged { execution, .. } = &error {
                self.shared.waiters.set_aside(&execution.clone(), error);
            }
        }
        let full = claimed.claims.len() == limit;
        for claim in claimed.claims {
            let id = claim.header.id.clone();
            self.shared.waiters.mended(&id);
            let lease = claim.lease.clone();
            let shared = Arc::clone(&self.shared);
            let mut working = Some(shared.clock.working());
            let driver = self.drivers.spawn(async move {
                let ended = claimed::work(&shared, claim, &mut working).await;
                (ended, working)
            });
            self.working
                .insert(driver.id(), Working { id, lease, driver });
        }
        Ok(full)
    }

    async fn sleep(
        &mut self,
        changes: &mut crate::store::Changes,
        due: Option<Timestamp>,
        renew: Option<Timestamp>,
        stopping: bool,
    ) -> Woken {
        let clock = Arc::clone(&self.shared.clock);
        let timer = |at: Option<Timestamp>| match at {
            Some(at) => clock.sleep_until(at),
            None => Box::pin(std::future::pending()),
        };
        let (mut due, mut renew) = (timer(due), timer(renew));
        // From here on a virtual clock may move.
        self.awake = None;
        let woken = tokio::select! {
            biased;
            Some(ended) = self.drivers.join_next_with_id() => Woken::Ended(ended),
            change = changes.next() => Woken::Changed(change),
            () = &mut due => Woken::Due,
            () = &mut renew => Woken::Renew,
            _ = self.stopping.wait_for(|stopping| *stopping), if !stopping => Woken::Stopping,
        };
        self.awake = Some(clock.working());
        woken
    }

    fn ended(&mut self, ended: Result<(Id, DriverEnd), JoinError>) -> Result<(), StoreError> {
        let (task, result) = match ended {
            Ok((task, (result, _guard))) => (task, result),
            // Aborted by a lost lease, or a panic of ours: either way the driver is gone.
            Err(error) => (error.id(), self.lost(&error)),
        };
        let Some(working) = self.working.remove(&task) else {
            return Ok(());
        };
        match result {
            Ok(()) | Err(Stop::LetGo) => Ok(()),
            Err(Stop::Broken(error)) => {
                tracing::error!(%error, "an execution is set aside");
                self.shared.waiters.set_aside(&working.id, error);
                self.set_aside.push(working.lease);
                Ok(())
            }
            Err(Stop::Gone(error)) => Err(error),
        }
    }

    fn lost(&self, error: &JoinError) -> Result<(), Stop> {
        if error.is_cancelled() {
            return Err(Stop::LetGo);
        }
        let execution = self
            .working
            .get(&error.id())
            .map(|working| working.id.clone());
        match execution {
            Some(execution) => Err(Stop::Broken(StoreError::Contradiction {
                execution,
                reason: format!("its driver panicked ({error})"),
            })),
            None => Err(Stop::LetGo),
        }
    }

    /// Takes news in. `true` if there may be something to claim.
    fn changed(&self, change: Change) -> bool {
        match change {
            Change::Claimable | Change::Mail(_) => true,
            Change::Missed => {
                self.shared.waiters.tell_all(&Ending::AskTheStore);
                true
            }
            Change::AtRest(id, _) => {
                // Most have been told by then by the driver, with the result in hand. But it may have been
                // another worker's, or one of ours that was let go between its commit and its word.
                self.shared.waiters.tell(&id, Ending::AskTheStore);
                false
            }
        }
    }

    /// Extends the leases; the drivers of lost ones stop.
    async fn renew(&mut self) -> Result<(), StoreError> {
        let held = self
            .working
            .values()
            .map(|working| &working.lease)
            .chain(&self.set_aside);
        let leases: Vec<Lease> = held.cloned().collect();
        if !leases.is_empty() {
            let lost = self.shared.store.renew(leases, self.lease_end()).await?;
            for working in self.working.values() {
                if lost.contains(&working.lease) {
                    tracing::warn!(execution = %working.id, "lease lost, another worker goes on");
                    working.driver.abort();
                }
            }
            self.set_aside.retain(|lease| !lost.contains(lease));
        }
        self.renew_at = next_renewal(&self.shared);
        self.renew_again_at = None;
        Ok(())
    }
}

impl Drop for Scheduler {
    /// However it ends, nobody waits for it any longer.
    fn drop(&mut self) {
        let error = if std::thread::panicking() {
            let cause = "the scheduler panicked; the panic's own text is on standard error";
            StoreError::Stopped {
                cause: cause.into(),
            }
        } else {
            StoreError::Closed
        };
        self.shared.waiters.close(&error);
    }
}

fn next_renewal(shared: &Shared) -> Timestamp {
    shared.clock.now().saturating_add(shared.settings.lease / 3)
}
