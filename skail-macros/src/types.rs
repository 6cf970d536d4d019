//! Looking at types without understanding them.
//!
//! Owns the search for what can be seen in a type's tokens: borrows, lifetimes, `impl`, `Self`. What
//! hides behind an alias is for the runtime's traits to refuse.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::Type;

/// The type without parentheses, and without the invisible ones of `macro_rules!`.
pub(crate) fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        other => other,
    }
}

/// Something in a type that matters to a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Borrow,
    Lifetime,
    Impl,
    SelfType,
    Infer,
    HashSet,
}

/// The parts of a type that matter, each with its token.
pub(crate) fn parts(ty: &Type) -> Vec<(Part, TokenTree)> {
    let mut found = Vec::new();
    collect(ty.to_token_stream(), &mut found);
    found
}

fn collect(tokens: TokenStream, found: &mut Vec<(Part, TokenTree)>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let part = match &token {
            TokenTree::Group(group) => {
                collect(group.stream(), found);
                None
            }
            TokenTree::Punct(punct) if punct.as_char() == '&' => Some(Part::Borrow),
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                let is_static =
                    matches!(tokens.peek(), Some(TokenTree::Ident(name)) if name == "static");
                (!is_static).then_some(Part::Lifetime)
            }
            TokenTree::Ident(word) => match word.to_string().as_str() {
                "impl" => Some(Part::Impl),
                "Self" => Some(Part::SelfType),
                "_" => Some(Part::Infer),
                "HashSet" => Some(Part::HashSet),
                _ => None,
            },
            TokenTree::Punct(_) | TokenTree::Literal(_) => None,
        };
        found.extend(part.map(|part| (part, token)));
    }
}
