//! Two rules for every name that the attributes write: paths begin at the root, and what is ours says so.

use std::collections::HashSet;

use proc_macro2::{TokenStream, TokenTree};

use super::{expand, golden, idents};

/// What may stand alone: keywords, attributes, primitive types, and the names that are promised.
const FREE: [&str; 33] = [
    "fn",
    "let",
    "mut",
    "use",
    "as",
    "_",
    "const",
    "static",
    "impl",
    "struct",
    "for",
    "async",
    "move",
    "await",
    "Self",
    "str",
    "doc",
    "allow",
    "non_camel_case_types",
    "dead_code",
    "missing_docs",
    "unused_variables",
    "body",
    "REGISTRATION",
    "loop",
    "pub",
    "name",
    "site",
    "parameters",
    "states",
    "policy",
    "where",
    "clippy",
];

fn is_ours(word: &str) -> bool {
    word.starts_with("__skail_") || word.starts_with("__SKAIL_")
}

/// Checks the tokens one after the other; `known` is what the user wrote.
fn check(tokens: TokenStream, known: &HashSet<String>, faults: &mut Vec<String>) {
    let mut before = [String::new(), String::new()];
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if let TokenTree::Group(group) = &token {
            check(group.stream(), known, faults);
        }
        if let TokenTree::Ident(ident) = &token {
            let word = ident.to_string();
            let in_path = before == [":", ":"];
            let member = before[1] == ".";
            let field = matches!(tokens.peek(), Some(TokenTree::Punct(p)) if p.as_char() == ':');
            let free = FREE.contains(&word.as_str()) || known.contains(&word);
            // In a `use`, the names within the braces hang on the path before them.
            let imported = word.ends_with("Typed") || word.starts_with("Finish");
            if !(in_path || member || field || free || is_ours(&word) || imported) {
                faults.push(word);
            }
        }
        let [_, last] = before;
        before = [last, token.to_string()];
    }
}

#[test]
fn no_name_trusts_what_is_in_scope() {
    for (file, input) in golden::inputs() {
        let mut known = Vec::new();
        idents(input.parse().expect("it lexes"), &mut known);
        let known = known.into_iter().collect();
        let mut faults = Vec::new();
        check(expand(&input), &known, &mut faults);
        assert!(faults.is_empty(), "{file}: {faults:?}");
    }
}

#[test]
fn a_renamed_runtime_is_never_called_by_its_own_name() {
    let output = expand(
        "#[skail_command(crate = durable, retry_count = 2, timeout = \"1s\", \
         backoff(base = \"1s\"), idempotency_key = \"{id}\")]
         async fn charge(#[state] db: &Db, id: u64) -> Result<(), Error> { Ok(()) }",
    );
    let mut words = Vec::new();
    idents(output, &mut words);
    assert!(!words.contains(&"skail_runtime".to_owned()));
    assert!(words.contains(&"durable".to_owned()));
}

#[test]
fn two_runs_write_the_same() {
    for (_, input) in golden::inputs() {
        assert_eq!(expand(&input).to_string(), expand(&input).to_string());
    }
}
