//! The house rules, as tests: what a reviewer would otherwise have to remember.
//!
//! Each rule reads the repository's files and lists everything that breaks it, with what to do about it.
//! Plain text search over code whose comments and strings are blanked: fast, and no parser to maintain.
#![allow(clippy::panic, clippy::unwrap_used, reason = "this is a test")]

mod code;
mod files;
mod imports;
mod manifests;
mod pages;
mod source;

/// Fails with one line per problem.
fn report(rule: &str, problems: &[String]) {
    assert!(
        problems.is_empty(),
        "{rule}\n{}\n",
        problems
            .iter()
            .map(|problem| format!("  - {problem}"))
            .collect::<Vec<_>>()
            .join("\n")
    );
}
