//! What stands behind an option's `=`: strings, whole numbers, factors, durations.
//!
//! Owns the way from an expression to a plain value, with the fault on the expression. Must never know
//! which option it reads for beyond the word and example of its messages.

use std::time::Duration;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Expr, Lit, LitStr, UnOp};

use super::duration;

/// A value with the tokens that faults are shown on.
#[derive(Clone)]
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    pub(crate) tokens: TokenStream,
}

impl<T> Spanned<T> {
    pub(super) fn new(value: T, culprit: &impl ToTokens) -> Self {
        Self {
            value,
            tokens: culprit.to_token_stream(),
        }
    }
}

/// The expression without the invisible parentheses that `macro_rules!` puts around it.
pub(super) fn bare(expression: &Expr) -> &Expr {
    match expression {
        Expr::Group(group) => bare(&group.expr),
        other => other,
    }
}

/// A text in quotes.
pub(super) fn text(expression: &Expr, word: &str, example: &str) -> syn::Result<LitStr> {
    if let Expr::Lit(literal) = bare(expression)
        && let Lit::Str(text) = &literal.lit
    {
        return Ok(text.clone());
    }
    Err(syn::Error::new_spanned(
        expression,
        format!("`{word}` takes a text in quotes: write `{example}`"),
    ))
}

/// A duration in quotes.
pub(super) fn time(expression: &Expr, word: &str, example: &str) -> syn::Result<Spanned<Duration>> {
    let Ok(text) = text(expression, word, example) else {
        return Err(syn::Error::new_spanned(
            expression,
            format!("`{word}` takes a duration in quotes: write `{example}`"),
        ));
    };
    match duration::parse(&text.value()) {
        Ok(value) => Ok(Spanned::new(value, &text)),
        Err(reason) => Err(syn::Error::new_spanned(
            text,
            format!("`{word}` cannot be used: {reason}"),
        )),
    }
}

/// A whole number that fits `u32`, or an expression that the compiler will hold to that.
pub(super) fn count(expression: &Expr, word: &str) -> syn::Result<TokenStream> {
    let refuse = || {
        syn::Error::new_spanned(
            expression,
            format!(
                "`{word}` must be a whole number from 0 to {}, or a constant of type `u32`: it says \
                 how many times to try again after the first attempt",
                u32::MAX
            ),
        )
    };
    match bare(expression) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) if matches!(number.suffix(), "" | "u32") => {
                let value: u32 = number.base10_parse().map_err(|_| refuse())?;
                let mut literal = proc_macro2::Literal::u32_suffixed(value);
                literal.set_span(number.span());
                Ok(quote!(#literal))
            }
            _ => Err(refuse()),
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => Err(refuse()),
        // Something that can only be a constant of another type, or can't be constant at all.
        Expr::Array(_) | Expr::Closure(_) | Expr::Range(_) | Expr::Tuple(_) | Expr::Assign(_) => {
            Err(refuse())
        }
        other => Ok(other.to_token_stream()),
    }
}

/// A number of at least 1.
pub(super) fn factor(expression: &Expr, example: &str) -> syn::Result<f64> {
    let parsed = match bare(expression) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) if number.suffix().is_empty() => number.base10_parse().ok(),
            Lit::Float(number) if number.suffix().is_empty() => number.base10_parse().ok(),
            _ => None,
        },
        _ => None,
    };
    parsed
        .filter(|factor: &f64| factor.is_finite() && *factor >= 1.0)
        .ok_or_else(|| {
            syn::Error::new_spanned(
                expression,
                format!("`factor` must be a number of at least 1: write `{example}`"),
            )
        })
}
