//! `backoff(base = "500ms", factor = 2, cap = "30s", jitter = "full")`.
//!
//! Owns the parts and the rules between them, which are those of the runtime's `Backoff::new`, so that
//! the expansion can skip the check. Must never clamp: what cannot wait sensibly is refused.

use std::time::Duration;

use proc_macro2::Span;
use syn::Expr;

use super::nearest::nearest;
use super::parse::{self, Entry};
use super::value::{self, Spanned};
use crate::errors::Errors;

/// The runtime's defaults, for parts that are left out.
const BASE: Duration = Duration::from_millis(500);
const FACTOR: f64 = 2.0;
const CAP: Duration = Duration::from_secs(30);

const PARTS: [(&str, &str); 4] = [
    ("base", "base = \"500ms\""),
    ("factor", "factor = 2"),
    ("cap", "cap = \"30s\""),
    ("jitter", "jitter = \"full\""),
];

/// The words for jitter, with the variant of the runtime's `Jitter`.
const JITTERS: [(&str, &str); 4] = [
    ("full", "Full"),
    ("equal", "Equal"),
    ("decorrelated", "Decorrelated"),
    ("none", "None"),
];

/// A backoff that keeps the rules.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Backoff {
    pub(crate) base: Duration,
    pub(crate) factor: f64,
    pub(crate) cap: Duration,
    /// The variant's name.
    pub(crate) jitter: &'static str,
}

#[derive(Default)]
struct Parts {
    base: Option<Spanned<Duration>>,
    factor: Option<f64>,
    cap: Option<Spanned<Duration>>,
    jitter: Option<&'static str>,
}

/// Reads the parts from between the parentheses. `None` if one of them has a fault.
pub(super) fn parse(
    content: proc_macro2::TokenStream,
    at: Span,
    errors: &mut Errors,
) -> Option<Backoff> {
    let before = errors.count();
    let mut parts = Parts::default();
    let entries = parse::entries(content, errors);
    if entries.is_empty() && errors.count() == before {
        errors.push(syn::Error::new(
            at,
            "`backoff` names no part: write `backoff(base = \"500ms\", factor = 2, cap = \"30s\", \
             jitter = \"full\")`, or leave it out",
        ));
    }
    let mut seen = Vec::new();
    for entry in entries {
        read(&entry, &mut seen, &mut parts, errors);
    }
    let backoff = Backoff {
        base: parts.base.as_ref().map_or(BASE, |base| base.value),
        factor: parts.factor.unwrap_or(FACTOR),
        cap: parts.cap.as_ref().map_or(CAP, |cap| cap.value),
        jitter: parts.jitter.unwrap_or("Full"),
    };
    if errors.count() == before && backoff.cap < backoff.base {
        match (&parts.cap, &parts.base) {
            (Some(cap), _) => errors.at(&cap.tokens, "`cap` is below `base`: make it longer"),
            (None, Some(base)) => errors.at(
                &base.tokens,
                "`base` is above `cap`, which is \"30s\" unless it is given: make it shorter, or \
                 give a `cap` too",
            ),
            (None, None) => {}
        }
    }
    (errors.count() == before).then_some(backoff)
}

fn read(entry: &Entry, seen: &mut Vec<String>, parts: &mut Parts, errors: &mut Errors) {
    let word = entry.word();
    let Some((_, example)) = PARTS.iter().find(|(part, _)| *part == word) else {
        let hint = nearest(&word, PARTS.iter().map(|(part, _)| *part)).map_or_else(
            || "it has `base`, `factor`, `cap`, `jitter`".to_owned(),
            |part| format!("did you mean `{part}`?"),
        );
        errors.at(
            &entry.key,
            format!("`backoff` has no part `{word}`: {hint}"),
        );
        return;
    };
    if seen.contains(&word) {
        errors.at(
            &entry.key,
            format!("`{word}` is given twice: keep one of the two"),
        );
        return;
    }
    seen.push(word.clone());
    let outcome = entry
        .expression(example)
        .and_then(|expression| set(parts, &word, expression, example));
    if let Err(error) = outcome {
        errors.push(error);
    }
}

fn set(parts: &mut Parts, word: &str, expression: &Expr, example: &str) -> syn::Result<()> {
    match word {
        "base" => parts.base = Some(value::time(expression, word, example)?),
        "factor" => parts.factor = Some(value::factor(expression, example)?),
        "cap" => parts.cap = Some(value::time(expression, word, example)?),
        _ => parts.jitter = Some(jitter(expression, example)?),
    }
    Ok(())
}

fn jitter(expression: &Expr, example: &str) -> syn::Result<&'static str> {
    let text = value::text(expression, "jitter", example)?;
    let word = text.value();
    if let Some((_, variant)) = JITTERS.iter().find(|(name, _)| *name == word) {
        return Ok(variant);
    }
    let hint = nearest(&word, JITTERS.iter().map(|(name, _)| *name)).map_or_else(
        || "use \"full\", \"equal\", \"decorrelated\" or \"none\"".to_owned(),
        |name| format!("did you mean \"{name}\"?"),
    );
    Err(syn::Error::new_spanned(
        text,
        format!("there is no jitter \"{word}\": {hint}"),
    ))
}
