//! The attributes of Skail. Their documentation is on the re-exports in `skail_runtime`, where its
//! examples can use the runtime.

mod attributes;
mod errors;
mod expand;
mod fallback;
mod item;
mod kind;
mod model;
mod options;
mod rules;
mod types;

use kind::Kind;

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
fn attribute(
    kind: Kind,
    options: proc_macro2::TokenStream,
    tokens: proc_macro2::TokenStream,
) -> proc_macro2::TokenStream {
    let mut errors = errors::Errors::default();
    let options = options::parse(kind, options, &mut errors);
    let output = match item::Item::parse(tokens.clone()) {
        Ok(item) => match rules::judge(kind, &item, options, &mut errors) {
            Some(model) => expand::expand(&model),
            None => fallback::as_written(&item),
        },
        Err(error) => {
            errors.push(error);
            tokens
        }
    };
    let errors = errors.into_tokens();
    quote::quote!(#output #errors)
}
