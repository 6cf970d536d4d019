//! Where each attribute below ours goes.
//!
//! One item becomes several; this file owns which of them an attribute is for. Must never drop one, but
//! for Skail's own, of which a rule has said that they are misplaced.

use quote::ToTokens;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token, parse_quote};

use crate::rules;

/// The attributes of an item, by destination.
#[derive(Default)]
pub(crate) struct Attributes {
    /// `cfg`: for everything that the item becomes.
    pub(crate) gates: Vec<Attribute>,
    /// Documentation: for the constructor and the body.
    pub(crate) docs: Vec<Attribute>,
    /// For the constructor, which is what others see and call.
    pub(crate) outer: Vec<Attribute>,
    /// For the body, which is what the user wrote.
    pub(crate) inner: Vec<Attribute>,
}

/// Lints about an item as others see it: an `expect` of one is met at the constructor. All others are
/// met in the body.
const OUTSIDE_LINTS: [&str; 8] = [
    "dead_code",
    "missing_docs",
    "non_snake_case",
    "unreachable_pub",
    "unused",
    "private_interfaces",
    "clippy::too_many_arguments",
    "clippy::module_name_repetitions",
];

impl Attributes {
    /// Sorts the attributes.
    pub(crate) fn sort(attributes: &[Attribute]) -> Self {
        let mut sorted = Self::default();
        let others = attributes.iter().filter(|a| !rules::is_skail(a));
        for attribute in others.flat_map(split_cfg_attr) {
            sorted.add(attribute);
        }
        sorted
    }

    fn add(&mut self, attribute: Attribute) {
        match kind(&attribute.meta).as_str() {
            "cfg" => self.gates.push(attribute),
            "doc" => self.docs.push(attribute),
            "deprecated" | "must_use" => self.outer.push(attribute),
            "allow" | "warn" | "deny" | "forbid" => {
                self.outer.push(attribute.clone());
                self.inner.push(attribute);
            }
            "expect" => self.add_expectation(attribute),
            _ => self.inner.push(attribute),
        }
    }

    /// An expectation is met once, so the other place is allowed instead.
    fn add_expectation(&mut self, attribute: Attribute) {
        let mut allowed = attribute.clone();
        rename_to_allow(&mut allowed.meta);
        if expects_from_outside(&attribute.meta) {
            self.outer.push(attribute);
            self.inner.push(allowed);
        } else {
            self.outer.push(allowed);
            self.inner.push(attribute);
        }
    }
}

/// `#[cfg_attr(p, a, b)]` is `#[cfg_attr(p, a)] #[cfg_attr(p, b)]`, and those can part ways.
fn split_cfg_attr(attribute: &Attribute) -> Vec<Attribute> {
    let whole = || vec![attribute.clone()];
    let Meta::List(list) = &attribute.meta else {
        return whole();
    };
    if !list.path.is_ident("cfg_attr") {
        return whole();
    }
    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
    let Ok(parts) = parser.parse2(list.tokens.clone()) else {
        return whole();
    };
    let mut parts = parts.into_iter();
    let Some(predicate) = parts.next() else {
        return whole();
    };
    parts
        .map(|part| parse_quote!(#[cfg_attr(#predicate, #part)]))
        .collect()
}

/// The attribute's name; that of the attribute within, for one under a condition.
fn kind(meta: &Meta) -> String {
    match conditional(meta) {
        Some(within) => kind(&within),
        None => path_text(meta.path()),
    }
}

fn conditional(meta: &Meta) -> Option<Meta> {
    let Meta::List(list) = meta else { return None };
    if !list.path.is_ident("cfg_attr") {
        return None;
    }
    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
    parser.parse2(list.tokens.clone()).ok()?.into_iter().nth(1)
}

fn path_text(path: &impl ToTokens) -> String {
    path.to_token_stream()
        .to_string()
        .replace(char::is_whitespace, "")
}

fn expects_from_outside(meta: &Meta) -> bool {
    let within = conditional(meta);
    let Meta::List(list) = within.as_ref().unwrap_or(meta) else {
        return false;
    };
    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
    let Ok(lints) = parser.parse2(list.tokens.clone()) else {
        return false;
    };
    let from_outside = |meta: &Meta| OUTSIDE_LINTS.contains(&path_text(meta.path()).as_str());
    lints.first().is_some_and(from_outside)
}

fn rename_to_allow(meta: &mut Meta) {
    if let Some(mut within) = conditional(meta) {
        rename_to_allow(&mut within);
        if let Meta::List(list) = meta {
            let predicate = Punctuated::<Meta, Token![,]>::parse_terminated
                .parse2(list.tokens.clone())
                .ok()
                .and_then(|parts| parts.into_iter().next());
            list.tokens = quote::quote!(#predicate, #within);
        }
    } else if let Meta::List(list) = meta {
        list.path = parse_quote!(allow);
    }
}
