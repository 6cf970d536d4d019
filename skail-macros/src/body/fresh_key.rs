//! In a command: an id made in the body, used as an idempotency key.
//!
//! Owns the guess where a key is meant: a name or a text that says "idempotency". The guess is narrow,
//! since a command is free to make ids for anything else.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::paths::{self, Found};
use crate::errors::Errors;

const MESSAGE: &str = "an id made here is another one in each attempt, so a repeated request would not \
     be known as the same: use `idempotency_key()`, which stays the same over all attempts";

/// Tells each fresh id that is used as a key.
pub(super) fn check(tokens: TokenStream, errors: &mut Errors) {
    let mut names = Vec::new();
    remember(tokens.clone(), &mut names);
    walk(tokens, &names, errors);
}

fn is_fresh(found: &Found) -> bool {
    ["new_v4", "now_v7", "now_v6", "now_v1"]
        .iter()
        .any(|maker| found.ends(&["Uuid", maker]))
}

fn holds_fresh(tokens: &TokenStream) -> bool {
    let mut fresh = false;
    paths::visit(tokens.clone(), &mut |found| fresh |= is_fresh(found));
    fresh
}

fn means_key(word: &str) -> bool {
    word.to_lowercase().contains("idempot")
}

/// Names bound to a fresh id: `let x = Uuid::new_v4();`.
fn remember(tokens: TokenStream, names: &mut Vec<String>) {
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => remember(group.stream(), names),
            TokenTree::Ident(word) if word == "let" => {
                let statement: TokenStream =
                    tokens.by_ref().take_while(|t| !ends(t, ";")).collect();
                let mut words = statement
                    .clone()
                    .into_iter()
                    .filter_map(|token| match token {
                        TokenTree::Ident(word) if word != "mut" => Some(word.to_string()),
                        _ => None,
                    });
                if holds_fresh(&statement) {
                    names.extend(words.next());
                }
                remember(statement, names);
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn ends(token: &TokenTree, marks: &str) -> bool {
    matches!(token, TokenTree::Punct(punct) if marks.contains(punct.as_char()))
}

/// Looks for the places where a key is meant.
fn walk(tokens: TokenStream, names: &[String], errors: &mut Errors) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => walk(group.stream(), names, errors),
            // `header("Idempotency-Key", …)`: what stands beside the text.
            TokenTree::Literal(text) if means_key(&text.to_string()) => {
                tell(tokens.by_ref().collect(), names, errors);
            }
            TokenTree::Ident(word) if means_key(&word.to_string()) => match tokens.peek() {
                // `idempotency_key(…)`: the arguments.
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                    let arguments = group.stream();
                    tokens.next();
                    tell(arguments, names, errors);
                }
                // `idempotency_key: …` or `idempotency_key = …`: the value.
                Some(next) if ends(next, ":=") => {
                    let value = tokens.by_ref().take_while(|token| !ends(token, ",;"));
                    tell(value.collect(), names, errors);
                }
                _ => {}
            },
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Tells each fresh id of a value that is used as a key.
fn tell(value: TokenStream, names: &[String], errors: &mut Errors) {
    paths::visit(value, &mut |found| {
        let is_name = found.segments.len() == 1 && names.contains(&found.last());
        if is_fresh(found) || is_name {
            errors.at(found.tokens(), MESSAGE);
        }
    });
}
