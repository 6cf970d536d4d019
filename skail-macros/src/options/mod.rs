//! The options of both attributes, parsed and checked one by one.
//!
//! Owns every rule that concerns one option alone; what an option means beside a signature is a rule of
//! [`rules`](crate::rules). Must never accept an option and ignore it.

mod backoff;
mod duration;
mod key;
mod nearest;
mod parse;
mod table;
mod value;

use std::time::Duration;

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{Expr, LitStr, Path};

pub(crate) use backoff::Backoff;
pub(crate) use key::IdempotencyKey;
pub(crate) use nearest::nearest;

use self::parse::{Content, Entry};
#[cfg(test)]
pub(crate) use table::ROWS;
pub(crate) use table::Standing;

use self::table::{Row, Setting};
use crate::errors::Errors;
use crate::kind::Kind;

/// What an attribute says. What it leaves out is `None`.
#[derive(Clone, Default)]
pub(crate) struct Options {
    /// A constant expression of type `u32`.
    pub(crate) retry_count: Option<TokenStream>,
    pub(crate) backoff: Option<Backoff>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) idempotency_key: Option<IdempotencyKey>,
    pub(crate) dependency: Option<LitStr>,
    pub(crate) name: Option<LitStr>,
    /// The word `blocking`, for faults to be shown on.
    pub(crate) blocking: Option<Ident>,
    /// The runtime's path where it goes by another name.
    pub(crate) root: Option<Path>,
}

/// Reads the options. Those with a fault are left out of the result, so that the expansion goes on.
pub(crate) fn parse(kind: Kind, tokens: TokenStream, errors: &mut Errors) -> Options {
    let mut options = Options::default();
    let mut seen = Vec::new();
    for entry in parse::entries(tokens, errors) {
        let Some(row) = known(kind, &entry, errors) else {
            continue;
        };
        if seen.contains(&row.word) {
            errors.at(
                &entry.key,
                format!("`{}` is given twice: keep one of the two", row.word),
            );
            continue;
        }
        seen.push(row.word);
        if matches!(entry.content, Content::Damaged) {
            continue;
        }
        if let Err(error) = options.set(row, &entry, errors) {
            errors.push(error);
        }
    }
    options
}

/// The row of an option that this attribute takes; otherwise a fault that says which it does.
fn known(kind: Kind, entry: &Entry, errors: &mut Errors) -> Option<&'static Row> {
    let attribute = kind.attribute();
    let word = entry.word();
    let message = match table::find(&word).map(|row| (row, row.standing(kind))) {
        Some((row, Standing::Taken)) => return Some(row),
        Some((_, Standing::Later(until))) => format!(
            "`{word}` is not yet an option of `{attribute}` in this release of Skail: {until}"
        ),
        Some((_, Standing::Never(why))) => {
            format!("`{attribute}` has no option `{word}`: {why}")
        }
        None => table::nearest(kind, &word).map_or_else(
            || {
                format!(
                    "`{attribute}` has no option `{word}`: it takes {}",
                    table::taken(kind)
                )
            },
            |row| {
                let meant = row.word;
                format!("`{attribute}` has no option `{word}`: did you mean `{meant}`?")
            },
        ),
    };
    errors.at(&entry.key, message);
    None
}

impl Options {
    fn set(&mut self, row: &Row, entry: &Entry, errors: &mut Errors) -> syn::Result<()> {
        let expression = || entry.expression(row.example);
        let text = || value::text(expression()?, row.word, row.example);
        match row.sets {
            Setting::RetryCount => self.retry_count = Some(value::count(expression()?, row.word)?),
            Setting::Backoff => match &entry.content {
                Content::List(list, span) => {
                    self.backoff = backoff::parse(list.clone(), *span, errors);
                }
                Content::Nothing | Content::Expression(_) | Content::Damaged => {
                    return Err(wants_list(entry, row));
                }
            },
            Setting::Timeout => {
                let time = value::time(expression()?, row.word, row.example)?;
                self.timeout = Some(time.value);
            }
            Setting::IdempotencyKey => self.idempotency_key = Some(key::parse(text()?)?),
            Setting::Dependency => self.dependency = Some(name(text()?, "name a dependency")?),
            Setting::Name => self.name = Some(name(text()?, "be recorded")?),
            Setting::Blocking => match &entry.content {
                Content::Nothing => self.blocking = Some(entry.key.clone()),
                Content::List(..) | Content::Expression(_) | Content::Damaged => {
                    return Err(syn::Error::new_spanned(
                        &entry.key,
                        "`blocking` takes no value: write the word alone, or leave it out",
                    ));
                }
            },
            Setting::Crate => self.root = Some(root(expression()?, row)?),
            // No attribute takes them yet, so `known` has refused them.
            Setting::CompensateWith => {}
        }
        Ok(())
    }
}

fn wants_list(entry: &Entry, row: &Row) -> syn::Error {
    syn::Error::new_spanned(
        &entry.key,
        format!(
            "`{}` takes its parts in parentheses: write `{}`",
            row.word, row.example
        ),
    )
}

/// The longest recorded name, in bytes: the runtime's limit for ids.
const MAX_NAME_BYTES: usize = 200;

fn name(text: LitStr, purpose: &str) -> syn::Result<LitStr> {
    let value = text.value();
    let reason = if value.trim() != value || value.is_empty() {
        "it must not be empty, nor begin or end with a space".to_owned()
    } else if value.len() > MAX_NAME_BYTES {
        format!(
            "it has {} bytes, and {MAX_NAME_BYTES} is the most",
            value.len()
        )
    } else if value.contains(char::is_control) {
        "it must not hold a line break or another control character".to_owned()
    } else {
        return Ok(text);
    };
    Err(syn::Error::new_spanned(
        text,
        format!("this name cannot {purpose}: {reason}"),
    ))
}

fn root(expression: &Expr, row: &Row) -> syn::Result<Path> {
    if let Expr::Path(path) = value::bare(expression)
        && path.qself.is_none()
        && path.attrs.is_empty()
    {
        return Ok(path.path.clone());
    }
    Err(syn::Error::new_spanned(
        expression.to_token_stream(),
        format!(
            "`crate` takes the path of the runtime where it goes by another name: write `{}`",
            row.example
        ),
    ))
}
