//! The list between an attribute's parentheses, cut into entries.
//!
//! Owns the grammar `word`, `word = expression`, `word(…)`, and going on after a fault, so that one
//! compile shows all of them. Must never know which words there are.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Token};

use crate::errors::Errors;

/// One option as it stands there.
pub(super) struct Entry {
    pub(super) key: Ident,
    pub(super) content: Content,
}

/// What follows the word.
pub(super) enum Content {
    /// Nothing.
    Nothing,
    /// `= expression`
    Expression(Box<Expr>),
    /// `(…)`
    List(TokenStream, Span),
    /// Something that does not parse; the fault has been told.
    Damaged,
}

impl Entry {
    /// The word, without a raw identifier's prefix.
    pub(super) fn word(&self) -> String {
        self.key.unraw().to_string()
    }

    /// The expression, or a fault that shows how to write one.
    pub(super) fn expression(&self, example: &str) -> syn::Result<&Expr> {
        match &self.content {
            Content::Expression(expression) => Ok(expression),
            Content::Nothing | Content::List(..) | Content::Damaged => {
                Err(syn::Error::new_spanned(
                    &self.key,
                    format!("`{}` needs a value: write `{example}`", self.word()),
                ))
            }
        }
    }
}

/// Cuts the list into entries and tells what is damaged.
pub(super) fn entries(tokens: TokenStream, errors: &mut Errors) -> Vec<Entry> {
    let mut entries = Vec::new();
    let list = |input: ParseStream<'_>| {
        while !input.is_empty() {
            match entry(input, errors) {
                Ok(entry) => entries.push(entry),
                Err(error) => errors.push(error),
            }
            if !input.is_empty() && !input.peek(Token![,]) {
                errors.push(input.error("expected `,` between two options"));
                skip_to_comma(input)?;
            }
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(())
    };
    if let Err(error) = list.parse2(tokens) {
        errors.push(error);
    }
    entries
}

fn entry(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Entry> {
    let Ok(key) = input.call(Ident::parse_any) else {
        let error = input.error("expected the name of an option");
        skip_to_comma(input)?;
        return Err(error);
    };
    let content = content(input, &key).unwrap_or_else(|error| {
        errors.push(error);
        Content::Damaged
    });
    if matches!(content, Content::Damaged) {
        skip_to_comma(input)?;
    }
    Ok(Entry { key, content })
}

fn content(input: ParseStream<'_>, key: &Ident) -> syn::Result<Content> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(Content::Nothing);
    }
    if input.peek(syn::token::Paren) {
        return match input.parse()? {
            TokenTree::Group(list) => Ok(Content::List(list.stream(), list.span())),
            other => Err(syn::Error::new_spanned(other, "expected a list")),
        };
    }
    let equals: Token![=] = input.parse().map_err(|error: syn::Error| {
        syn::Error::new(error.span(), format!("expected `=` after `{key}`"))
    })?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(syn::Error::new_spanned(
            equals,
            format!("`{key}` has no value after its `=`"),
        ));
    }
    Ok(Content::Expression(Box::new(input.parse()?)))
}

fn skip_to_comma(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<TokenTree>()?;
    }
    Ok(())
}
