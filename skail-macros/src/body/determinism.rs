//! The lints on the body of a function.

use proc_macro2::{Group, TokenStream, TokenTree};

use super::paths::{self, Found};
use super::traps::{Pattern, SEEDED, SELECT, SELECT_OF_FUTURES, TRAPS, Trap};
use crate::errors::Errors;

/// Tells each trap that the tokens hold. What is only a value is none in the closure of a `record`.
pub(super) fn check(tokens: TokenStream, errors: &mut Errors) {
    paths::visit(tokens, &mut |found| {
        let text = found.text();
        if let Some(arguments) = &found.bang {
            if let Some(advice) = select(found, arguments) {
                errors.at(found.tokens(), format!("`{text}!` {advice}"));
            }
        } else if let Some(trap) = trap(found) {
            let advice = trap.advice;
            let way_out = if trap.can_be_harmless { ALLOW } else { "" };
            errors.at(found.tokens(), format!("`{text}` {advice}{way_out}"));
        }
    });
}

const ALLOW: &str =
    " (where it cannot matter, put `#[skail(allow_nondeterminism)]` on the statement)";

fn trap(found: &Found) -> Option<&'static Trap> {
    TRAPS
        .iter()
        .find(|trap| trap.patterns.iter().any(|pattern| matches(pattern, found)))
        .filter(|trap| !(found.recorded && trap.can_be_harmless))
}

fn matches(pattern: &Pattern, found: &Found) -> bool {
    match pattern {
        Pattern::Ends(words) => found.ends(words),
        Pattern::Through(name) => found.goes_through(name),
        Pattern::Into(name) => found.goes_into(name) && !SEEDED.contains(&found.last().as_str()),
        Pattern::Calls(name) => {
            found.goes_into(name) && found.last().starts_with(char::is_lowercase)
        }
    }
}

/// `select!` without `biased;`.
fn select(found: &Found, arguments: &Group) -> Option<&'static str> {
    if !found.ends(&["select"]) {
        return None;
    }
    if found.goes_into("futures") || found.goes_into("futures_util") {
        return Some(SELECT_OF_FUTURES);
    }
    let mut inside = arguments.stream().into_iter();
    let biased = matches!(
        (inside.next(), inside.next()),
        (Some(TokenTree::Ident(word)), Some(TokenTree::Punct(end)))
            if word == "biased" && end.as_char() == ';'
    );
    (!biased).then_some(SELECT)
}
