//! `#[skail(allow_nondeterminism)]` on a statement.
//!
//! Owns finding the statement that it stands on and taking it out again, since rustc does not know it.
//! Must never change another token of the body.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Block;
use syn::parse::Parser;

use crate::errors::Errors;

/// A body without our attribute, and what of it is to be checked.
pub(super) struct Split {
    pub(super) body: Group,
    pub(super) to_check: TokenStream,
}

/// Takes the attribute out; the statements that it stands on are not to be checked.
pub(super) fn split(body: &Group, errors: &mut Errors) -> Split {
    if !mentions(&body.stream()) {
        return Split {
            body: body.clone(),
            to_check: body.stream(),
        };
    }
    let mut to_check = TokenStream::new();
    // A body that does not parse is rustc's to explain; there is no telling where a statement ends.
    if Block::parse_within.parse2(body.stream()).is_ok() {
        block(body.stream(), &mut to_check, errors);
    }
    Split {
        body: without(body),
        to_check,
    }
}

fn mentions(tokens: &TokenStream) -> bool {
    let mut after_hash = false;
    tokens.clone().into_iter().any(|token| {
        let found = match &token {
            TokenTree::Group(group) => (after_hash && is_ours(group)) || mentions(&group.stream()),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        };
        after_hash = is_hash(&token);
        found
    })
}

fn is_hash(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == '#')
}

/// `[skail …]`
fn is_ours(group: &Group) -> bool {
    group.delimiter() == Delimiter::Bracket
        && matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(word)) if word == "skail")
}

/// Collects what is to be checked of the statements between two braces.
fn block(tokens: TokenStream, to_check: &mut TokenStream, errors: &mut Errors) {
    let Ok(statements) = Block::parse_within.parse2(tokens.clone()) else {
        // The braces of a `match` or of a struct: there are expressions in there, but no statements.
        return elsewhere(tokens, to_check, errors);
    };
    for statement in statements {
        let (ours, rest) = leading(statement.to_token_stream(), errors);
        let before = errors.count();
        let mut found = TokenStream::new();
        elsewhere(rest, &mut found, errors);
        // An attribute that stands wrong in a statement is one fault; what it meant to allow is none.
        if !ours && errors.count() == before {
            to_check.extend(found);
        }
    }
}

/// Takes our attribute off the front of a statement, wherever it stands among the attributes there.
fn leading(statement: TokenStream, errors: &mut Errors) -> (bool, TokenStream) {
    let mut found = false;
    let mut rest = TokenStream::new();
    let mut tokens = statement.into_iter().peekable();
    while let Some(hash) = tokens.next_if(is_hash) {
        let Some(TokenTree::Group(group)) = tokens.next() else {
            rest.extend([hash]);
            break;
        };
        if is_ours(&group) {
            found = true;
            content(&group, errors);
        } else {
            rest.extend([hash, TokenTree::Group(group)]);
        }
    }
    rest.extend(tokens);
    (found, rest)
}

/// Collects what is to be checked where no statement begins; our attribute has no business there.
fn elsewhere(tokens: TokenStream, to_check: &mut TokenStream, errors: &mut Errors) {
    let mut after_hash = false;
    for token in tokens {
        let is_hash = is_hash(&token);
        match token {
            TokenTree::Group(group) if after_hash && is_ours(&group) => errors.at(
                group,
                "`#[skail(allow_nondeterminism)]` belongs in front of a whole statement: move it there",
            ),
            TokenTree::Group(group) => {
                let mut inside = TokenStream::new();
                if group.delimiter() == Delimiter::Brace {
                    block(group.stream(), &mut inside, errors);
                } else {
                    elsewhere(group.stream(), &mut inside, errors);
                }
                to_check.extend([TokenTree::Group(regrouped(&group, inside))]);
            }
            other => to_check.extend([other]),
        }
        after_hash = is_hash;
    }
}

/// The only word that the attribute knows.
fn content(attribute: &Group, errors: &mut Errors) {
    let mut words = attribute.stream().into_iter().skip(1);
    let allows = match (words.next(), words.next()) {
        (Some(TokenTree::Group(list)), None) => {
            list.delimiter() == Delimiter::Parenthesis
                && list.stream().to_string() == "allow_nondeterminism"
        }
        _ => false,
    };
    if !allows {
        errors.at(
            attribute.stream(),
            "in a body there is only `#[skail(allow_nondeterminism)]`: write that, or take it away",
        );
    }
}

/// The group with our attribute taken out at any depth.
fn without(group: &Group) -> Group {
    let mut inside = TokenStream::new();
    let mut tokens = group.stream().into_iter().peekable();
    while let Some(token) = tokens.next() {
        let ours = is_hash(&token)
            && tokens
                .next_if(|next| matches!(next, TokenTree::Group(group) if is_ours(group)))
                .is_some();
        if ours {
            continue;
        }
        inside.extend([match token {
            TokenTree::Group(group) => TokenTree::Group(without(&group)),
            other => other,
        }]);
    }
    regrouped(group, inside)
}

fn regrouped(group: &Group, inside: TokenStream) -> Group {
    let mut copy = Group::new(group.delimiter(), inside);
    copy.set_span(group.span());
    copy
}
