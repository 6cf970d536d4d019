//! The usual traps of determinism, one row each.
//!
//! Owns what is known as a trap, why, and what to write instead. A function runs again from its start
//! after a crash, and must then order the same steps: what differs from run to run must come from a
//! step. Must never look at tokens.

/// How a path is recognised.
pub(super) enum Pattern {
    /// It ends in these segments.
    Ends(&'static [&'static str]),
    /// It leads into this crate.
    Into(&'static str),
    /// It leads through this module, wherever that is.
    Through(&'static str),
    /// It leads into this crate and ends in a function.
    Calls(&'static str),
}

/// A group of traps with one explanation.
pub(super) struct Trap {
    pub(super) patterns: &'static [Pattern],
    /// Goes on from the path: why, and what to write instead.
    pub(super) advice: &'static str,
    /// Whether it can be harmless: in a line of a log for instance, and in the closure of a `record`.
    pub(super) can_be_harmless: bool,
}

use Pattern::{Calls, Ends, Into, Through};

/// The last segments of random generators that are told where to begin, and of their traits.
pub(super) const SEEDED: [&str; 9] = [
    "seed_from_u64",
    "from_seed",
    "with_seed",
    "SeedableRng",
    "Rng",
    "RngExt",
    "RngCore",
    "StdRng",
    "SmallRng",
];

pub(super) const TRAPS: [Trap; 11] = [
    Trap {
        patterns: &[
            Ends(&["SystemTime", "now"]),
            Ends(&["Utc", "now"]),
            Ends(&["Local", "now"]),
            Ends(&["OffsetDateTime", "now_utc"]),
            Ends(&["OffsetDateTime", "now_local"]),
            Ends(&["Zoned", "now"]),
            Ends(&["Timestamp", "now"]),
        ],
        advice: "gives another time when the function runs again after a crash: write `now().await?`, \
                 which is recorded",
        can_be_harmless: true,
    },
    Trap {
        patterns: &[Ends(&["Instant", "now"])],
        advice: "gives another time when the function runs again after a crash: write `now().await?`, \
                 which is recorded, or measure inside a command",
        can_be_harmless: true,
    },
    Trap {
        patterns: &[
            Ends(&["Uuid", "new_v4"]),
            Ends(&["Uuid", "now_v7"]),
            Ends(&["Uuid", "now_v6"]),
            Ends(&["Uuid", "now_v1"]),
        ],
        advice: "makes another id when the function runs again after a crash: write `uuid().await?`, \
                 which is recorded, or take it as a parameter",
        can_be_harmless: true,
    },
    Trap {
        patterns: &[Into("rand"), Into("fastrand"), Into("getrandom")],
        advice: "draws another value when the function runs again after a crash: write \
                 `random::<u64>().await?`, or `record(\"name\", || …).await?` around it",
        can_be_harmless: true,
    },
    Trap {
        patterns: &[
            Ends(&["tokio", "spawn"]),
            Ends(&["task", "spawn"]),
            Ends(&["task", "spawn_local"]),
            Ends(&["JoinSet", "new"]),
        ],
        advice: "starts work that Skail neither records nor finds again after a crash: await the \
                 commands together, with `tokio::join!` or `futures::future::join_all`",
        can_be_harmless: false,
    },
    Trap {
        patterns: &[
            Ends(&["task", "spawn_blocking"]),
            Ends(&["thread", "spawn"]),
        ],
        advice: "starts work that Skail neither records nor finds again after a crash: put it into a \
                 `#[skail_command(blocking)]` and await that",
        can_be_harmless: false,
    },
    Trap {
        patterns: &[
            Ends(&["time", "sleep"]),
            Ends(&["time", "sleep_until"]),
            Ends(&["thread", "sleep"]),
        ],
        advice: "is a wait that nobody records, so it starts anew after a crash: write `sleep(…).await?` \
                 or `sleep_until(…).await?` of Skail",
        can_be_harmless: false,
    },
    Trap {
        patterns: &[Ends(&["time", "timeout"]), Ends(&["time", "timeout_at"])],
        advice: "is a wait that nobody records, so it can end otherwise when the function runs again: \
                 write `timeout(…, step).await` of Skail, or give the command a `timeout = \"10s\"`",
        can_be_harmless: false,
    },
    Trap {
        patterns: &[Ends(&["time", "interval"]), Ends(&["time", "interval_at"])],
        advice: "ticks to a clock that nobody records: write a loop with `sleep(…).await?` of Skail",
        can_be_harmless: false,
    },
    Trap {
        patterns: &[
            Ends(&["env", "var"]),
            Ends(&["env", "var_os"]),
            Ends(&["env", "vars"]),
            Ends(&["env", "vars_os"]),
            Ends(&["env", "args"]),
            Ends(&["env", "args_os"]),
        ],
        advice: "can give another value when the function runs again, perhaps on another machine: write \
                 `record(\"name\", || …).await?` around it, or take it as a parameter",
        can_be_harmless: true,
    },
    Trap {
        patterns: &[
            Through("fs"),
            Ends(&["File", "open"]),
            Ends(&["File", "create"]),
            Calls("reqwest"),
            Calls("ureq"),
        ],
        advice: "has its effect each time the function runs again after a crash: put it into a command",
        can_be_harmless: false,
    },
];

/// Said of `select!`.
pub(super) const SELECT: &str = "polls its branches in random order, so the function can take another \
     way when it runs again: write `biased;` as the first line inside, or `select_biased!` with the crate \
     `futures`";

/// Said of the `select!` of the crate `futures`, which knows no `biased;`.
pub(super) const SELECT_OF_FUTURES: &str = "polls its branches in random order, so the function can \
     take another way when it runs again: write `futures::select_biased!`";
