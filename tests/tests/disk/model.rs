//! What was acknowledged, and what may be found after a stop.

use std::collections::BTreeMap;

/// How far each execution is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    executions: BTreeMap<String, Progress>,
}

#[derive(Debug, Clone, Default)]
struct Progress {
    acknowledged: u64,
    /// What was tried and is not known to have happened. More than one, if whoever made an execution has
    /// not heard of it yet while another already works on it.
    tried: Vec<u64>,
}

impl Model {
    /// A commit is on its way that makes the history this long.
    pub(crate) fn tried(&mut self, id: &str, length: u64) {
        self.executions
            .entry(id.to_owned())
            .or_default()
            .tried
            .push(length);
    }

    /// It was acknowledged.
    pub(crate) fn acknowledged(&mut self, id: &str, length: u64) {
        let progress = self.executions.entry(id.to_owned()).or_default();
        progress.acknowledged = progress.acknowledged.max(length);
        progress.tried.retain(|tried| *tried > length);
    }

    /// The execution is about to be deleted: it is there whole, or not at all.
    pub(crate) fn deleting(&mut self, id: &str) {
        let progress = self.executions.entry(id.to_owned()).or_default();
        progress.tried.push(progress.acknowledged);
        progress.acknowledged = 0;
    }

    /// Takes in what was tried later, which may have happened too.
    pub(crate) fn take_tried_of(&mut self, later: &Self) {
        for (id, progress) in &later.executions {
            let tried = &mut self.executions.entry(id.clone()).or_default().tried;
            tried.push(progress.acknowledged);
            tried.extend(&progress.tried);
        }
    }

    /// Compares with what was found. `Err` says what is lost, half there, or from nowhere.
    pub(crate) fn check(&self, found: &[(String, u64)]) -> Result<(), String> {
        let found: BTreeMap<_, _> = found.iter().map(|(id, length)| (id, *length)).collect();
        for (id, progress) in &self.executions {
            let length = found.get(id).copied().unwrap_or(0);
            if length < progress.acknowledged {
                let acknowledged = progress.acknowledged;
                return Err(format!(
                    "{id}: {acknowledged} events were acknowledged, {length} are there"
                ));
            }
            if length != progress.acknowledged && !progress.tried.contains(&length) {
                return Err(format!("{id}: {length} events are there, of {progress:?}"));
            }
        }
        match found.keys().find(|id| !self.executions.contains_key(**id)) {
            Some(id) => Err(format!("{id}: nobody made it")),
            None => Ok(()),
        }
    }

    /// Takes what was found for what is: a commit that was tried has happened, or never will.
    pub(crate) fn settle(&mut self, found: &[(String, u64)]) {
        self.executions.clear();
        for (id, length) in found {
            self.acknowledged(id, *length);
        }
    }
}
