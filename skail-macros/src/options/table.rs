//! Every option, one row each.
//!
//! Owns what parser, messages and documentation share, so that they cannot drift apart: the words,
//! which attribute takes them, an example, and what people call them elsewhere. Must never parse.

use crate::kind::Kind;

/// An option, by what it sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    RetryCount,
    Backoff,
    Timeout,
    IdempotencyKey,
    CompensateWith,
    Dependency,
    Name,
    Blocking,
    Crate,
}

/// Whether an attribute takes an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It does.
    Taken,
    /// It will, in a later release; this is what to do today.
    Later(&'static str),
    /// It never will, and this says why.
    Never(&'static str),
}

/// What is known about one option.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) sets: Setting,
    pub(crate) word: &'static str,
    /// How it is written, as messages and documentation show it.
    pub(crate) example: &'static str,
    command: Standing,
    function: Standing,
    /// Other words for the same thing, from people who come from elsewhere.
    aliases: &'static [&'static str],
}

impl Row {
    /// Whether the attribute of this kind takes the option.
    pub(crate) const fn standing(&self, kind: Kind) -> Standing {
        match kind {
            Kind::Command => self.command,
            Kind::Function => self.function,
        }
    }
}

/// The options, in the order in which messages list them.
pub(crate) const ROWS: [Row; 9] = [
    Row {
        sets: Setting::RetryCount,
        word: "retry_count",
        example: "retry_count = 8",
        command: Standing::Taken,
        function: Standing::Taken,
        aliases: &[
            "retries",
            "retry",
            "max_retries",
            "attempts",
            "max_attempts",
            "retry_limit",
        ],
    },
    Row {
        sets: Setting::Backoff,
        word: "backoff",
        example: "backoff(base = \"500ms\", factor = 2, cap = \"30s\", jitter = \"full\")",
        command: Standing::Taken,
        function: Standing::Taken,
        aliases: &["delay", "retry_delay", "retry_policy", "wait"],
    },
    Row {
        sets: Setting::Timeout,
        word: "timeout",
        example: "timeout = \"10s\"",
        command: Standing::Taken,
        function: Standing::Later("give its commands a `timeout`"),
        aliases: &["deadline", "time_limit", "max_duration"],
    },
    Row {
        sets: Setting::IdempotencyKey,
        word: "idempotency_key",
        example: "idempotency_key = \"charge-{invoice_id}\"",
        command: Standing::Taken,
        function: Standing::Never(
            "what makes its start idempotent is the id in `skail.start(…).id(…)`",
        ),
        aliases: &["key", "idempotent", "dedup_key"],
    },
    Row {
        sets: Setting::CompensateWith,
        word: "compensate_with",
        example: "compensate_with = release_stock",
        command: Standing::Later("call the compensating command yourself where a later step fails"),
        function: Standing::Never("what is compensated is a command"),
        aliases: &["compensate", "compensation", "undo", "rollback"],
    },
    Row {
        sets: Setting::Dependency,
        word: "dependency",
        example: "dependency = \"gateway\"",
        command: Standing::Taken,
        function: Standing::Never("what calls a dependency is a command"),
        aliases: &["breaker", "circuit_breaker", "depends_on"],
    },
    Row {
        sets: Setting::Name,
        word: "name",
        example: "name = \"charge_card\"",
        command: Standing::Taken,
        function: Standing::Taken,
        aliases: &["rename", "id"],
    },
    Row {
        sets: Setting::Blocking,
        word: "blocking",
        example: "blocking",
        command: Standing::Taken,
        function: Standing::Never(
            "a function waits for its commands, so it is always `async`: put what blocks into a \
             `#[skail_command(blocking)]`",
        ),
        aliases: &["block", "sync", "spawn_blocking"],
    },
    Row {
        sets: Setting::Crate,
        word: "crate",
        example: "crate = durable",
        command: Standing::Taken,
        function: Standing::Taken,
        aliases: &["krate", "crate_path"],
    },
];

/// The row of a word.
pub(crate) fn find(word: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.word == word)
}

/// The row that somebody who wrote `word` most likely meant.
pub(crate) fn nearest(kind: Kind, word: &str) -> Option<&'static Row> {
    let lower = word.to_lowercase();
    let taken = || {
        ROWS.iter()
            .filter(|row| row.standing(kind) == Standing::Taken)
    };
    let words = || taken().flat_map(|row| row.aliases.iter().chain([&row.word]).copied());
    let word = super::nearest::nearest(&lower, words())?;
    taken().find(|row| row.word == word || row.aliases.contains(&word))
}

/// What an attribute takes, as a list for a message.
pub(crate) fn taken(kind: Kind) -> String {
    ROWS.iter()
        .filter(|row| row.standing(kind) == Standing::Taken)
        .map(|row| format!("`{}`", row.word))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_stands_twice() {
        let mut words: Vec<&str> = ROWS
            .iter()
            .flat_map(|row| row.aliases.iter().chain([&row.word]))
            .copied()
            .collect();
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all);
    }

    #[test]
    fn an_example_begins_with_its_word() {
        for row in &ROWS {
            assert!(row.example.starts_with(row.word), "{row:?}");
        }
    }

    #[test]
    fn a_slip_of_the_finger_finds_its_option() {
        for (slip, word) in [
            ("retrycount", "retry_count"),
            ("retry_cuont", "retry_count"),
            ("max_retries", "retry_count"),
            ("timeuot", "timeout"),
            ("Backoff", "backoff"),
            ("idempotencykey", "idempotency_key"),
            ("deadline", "timeout"),
            ("retrys", "retry_count"),
        ] {
            let row = nearest(Kind::Command, slip).expect(slip);
            assert_eq!(row.word, word, "{slip}");
        }
        assert!(nearest(Kind::Command, "colour").is_none());
        // What an attribute does not take is never advised.
        assert!(nearest(Kind::Function, "blockin").is_none());
    }
}
