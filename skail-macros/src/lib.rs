//! The attributes of Skail. Their documentation is on the re-exports in `skail_runtime`, where its
//! examples can use the runtime.

// An attribute that panics takes the user's function with it.
#![cfg_attr(
    not(test),
    deny(
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unreachable,
        clippy::unwrap_used
    )
)]

mod attributes;
mod body;
mod errors;
mod expand;
mod fallback;
mod item;
mod kind;
mod model;
mod options;
mod rules;
mod types;

#[cfg(test)]
mod tests;

use kind::Kind;
use proc_macro2::TokenStream;

// Documented on the re-export.
#[allow(missing_docs)]
#[proc_macro_attribute]
pub fn skail_command(
    options: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    attribute(Kind::Command, options.into(), item.into()).into()
}

// Documented on the re-export.
#[allow(missing_docs)]
#[proc_macro_attribute]
pub fn skail_function(
    options: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    attribute(Kind::Function, options.into(), item.into()).into()
}

/// Options, item, rules, and then either the expansion or what comes nearest to it.
fn attribute(kind: Kind, options: TokenStream, item: TokenStream) -> TokenStream {
    fallback::guard(item, |item| {
        let mut errors = errors::Errors::default();
        let options = options::parse(kind, options, &mut errors);
        let output = match item::Item::parse(item.clone()) {
            Ok(item) => match rules::judge(kind, &item, &options, &mut errors) {
                Some(model) => expand::expand(&model),
                None => fallback::stand_in(kind, &item, &options),
            },
            Err(error) => {
                errors.push(fallback::unreadable(kind, &item, &error));
                item
            }
        };
        let errors = errors.into_tokens();
        quote::quote!(#output #errors)
    })
}
