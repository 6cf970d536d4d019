//! Looking at types without understanding them.
//!
//! Owns the search for what can be seen in a type's tokens: borrows, `impl`, `Self`. What hides behind an
//! alias is for the runtime's traits to refuse.

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
    /// `&`, or a lifetime other than `'static`.
    Borrow,
    Impl,
    SelfType,
    Infer,
    HashSet,
}

/// The parts of a type that matter, the first of each kind, with its tokens.
pub(crate) fn parts(ty: &Type) -> Vec<(Part, TokenStream)> {
    let mut found = Vec::new();
    collect(ty.to_token_stream(), &mut found);
    found
}

fn collect(tokens: TokenStream, found: &mut Vec<(Part, TokenStream)>) {
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        let mut culprit = token.to_token_stream();
        let part = match token {
            TokenTree::Group(group) => {
                collect(group.stream(), found);
                None
            }
            TokenTree::Punct(punct) if punct.as_char() == '&' => Some(Part::Borrow),
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                let name = tokens.next();
                let is_static = matches!(&name, Some(TokenTree::Ident(name)) if name == "static");
                culprit.extend(name);
                (!is_static).then_some(Part::Borrow)
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
        if let Some(part) = part
            && !found.iter().any(|(known, _)| *known == part)
        {
            found.push((part, culprit));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(ty: &str) -> Vec<Part> {
        let ty: Type = syn::parse_str(ty).expect("it is a type");
        parts(&ty).into_iter().map(|(part, _)| part).collect()
    }

    #[test]
    fn what_matters_is_found_at_any_depth_and_once() {
        assert_eq!(found("Option<(&'a str, &u8)>"), [Part::Borrow]);
        assert_eq!(found("Cow<'_, str>"), [Part::Borrow]);
        assert_eq!(found("Vec<[impl Copy; 2]>"), [Part::Impl]);
        assert_eq!(found("HashMap<Self, _>"), [Part::SelfType, Part::Infer]);
        assert_eq!(
            found("Option<std::collections::HashSet<u8>>"),
            [Part::HashSet]
        );
    }

    #[test]
    fn what_owns_its_data_passes() {
        assert!(found("Cow<'static, str>").is_empty());
        assert!(found("HashMap<String, Vec<(u8, Box<[i64]>)>>").is_empty());
    }
}
