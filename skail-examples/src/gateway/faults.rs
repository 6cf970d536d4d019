//! The gateway's bad days.
//!
//! Owns the one source of chance in the gateway, which can be seeded, and how often which fault
//! comes. It must never know what a request is about: it draws blind, as a network does.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use fastrand::Rng;

/// How badly the gateway behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Level {
    /// It always answers, at once.
    None,
    /// One request in ten goes wrong.
    Light,
    /// Two requests in five go wrong.
    Heavy,
}

/// What goes wrong with one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing.
    None,
    /// 503, before anything was done.
    Unavailable,
    /// Everything is done, and the connection closes without an answer.
    AnswerLost,
    /// Nothing happens for a while, then all is well, if the client is still there.
    SlowToAct(Duration),
    /// Everything is done at once, but the answer takes a while.
    SlowToAnswer(Duration),
}

/// Chances in percent: unavailable, answer lost, slow to act, slow to answer; and the longest wait.
type Chances = ([u32; 4], Duration);

const LIGHT: Chances = ([4, 2, 2, 2], Duration::from_millis(200));
/// The longest wait is beyond the client's patience, so that some charges are made whose client has
/// gone.
const HEAVY: Chances = ([15, 10, 7, 8], Duration::from_millis(3_000));

#[derive(Debug)]
pub(super) struct Faults {
    chances: Option<Chances>,
    rng: Mutex<Rng>,
}

impl Faults {
    pub(super) fn new(level: Level, seed: u64) -> Self {
        let chances = match level {
            Level::None => None,
            Level::Light => Some(LIGHT),
            Level::Heavy => Some(HEAVY),
        };
        Self {
            chances,
            rng: Mutex::new(Rng::with_seed(seed)),
        }
    }

    pub(super) fn draw(&self) -> Fault {
        let Some(([unavailable, lost, slow_to_act, slow_to_answer], longest)) = self.chances else {
            return Fault::None;
        };
        let (roll, wait) = {
            let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
            (rng.u32(0..100), longest.mul_f64(rng.f64()))
        };
        let faults = [
            (unavailable, Fault::Unavailable),
            (lost, Fault::AnswerLost),
            (slow_to_act, Fault::SlowToAct(wait)),
            (slow_to_answer, Fault::SlowToAnswer(wait)),
        ];
        let mut bound = 0;
        for (chance, fault) in faults {
            bound += chance;
            if roll < bound {
                return fault;
            }
        }
        Fault::None
    }
}

/// The word in the request log.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Unavailable => "unavailable",
            Self::AnswerLost => "answer lost",
            Self::SlowToAct(_) => "slow to act",
            Self::SlowToAnswer(_) => "slow to answer",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_come_as_often_as_said_and_the_same_for_the_same_seed() {
        let drawn = |level| {
            let faults = Faults::new(level, 1);
            (0..10_000).map(|_| faults.draw()).collect::<Vec<_>>()
        };
        let bad = |level| {
            drawn(level)
                .iter()
                .filter(|&&fault| fault != Fault::None)
                .count()
        };
        assert_eq!(bad(Level::None), 0);
        assert!(
            (900..1_100).contains(&bad(Level::Light)),
            "{}",
            bad(Level::Light)
        );
        assert!(
            (3_800..4_200).contains(&bad(Level::Heavy)),
            "{}",
            bad(Level::Heavy)
        );
        assert_eq!(drawn(Level::Heavy), drawn(Level::Heavy));
    }
}
