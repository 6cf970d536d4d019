//! From model to tokens.
//!
//! One item becomes four: the constructor under the user's name, a type of the same name as the home of
//! the body and the constants that describe it, for a command its types, and its registration. Must never write logic: what can be
//! ordinary code in the runtime is.
//!
//! Three rules hold for every token written here. Paths begin at the root, since nobody's prelude can be
//! trusted. Names are prefixed `__skail_`, since items have no hygiene. A bound is demanded in one place,
//! with the span of the type that must meet it, so that one mistake is one error.

mod constructor;
mod descriptor;
mod run;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::Visibility;

use crate::model::{Model, moved};

/// Everything that the item becomes.
pub(crate) fn expand(model: &Model) -> TokenStream {
    let constructor = constructor::constructor(model);
    let home = home(model);
    let typed = run::typed(model);
    let registration = descriptor::registration(model);
    quote_spanned!(here()=> #constructor #home #typed #registration)
}

/// The span of what is ours alone: locals resolve here, everything else where the attribute stands.
fn here() -> Span {
    Span::mixed_site()
}

/// The type of the same name: body, constants, and what runs the body.
fn home(model: &Model) -> TokenStream {
    let gates = &model.attributes.gates;
    let visibility = respanned(&model.visibility);
    let name = model.type_name();
    let noun = model.kind.noun();
    let summary = format!(
        " What belongs to the {noun} of the same name; `body` is its body, to be called in tests."
    );
    let body = body(model);
    let ports = descriptor::ports(model);
    let descriptor = descriptor::descriptor(model);
    let run = run::run(model);
    quote_spanned! {here()=>
        #(#gates)*
        #[doc = #summary]
        #visibility struct #name {}

        #(#gates)*
        impl #name {
            #body
            #ports
            #descriptor
            #run
        }
    }
}

/// The user's function, whole, under the name `body`: coercions, `?` and early returns behave as they
/// were written, and a recursive call reaches the constructor.
fn body(model: &Model) -> TokenStream {
    let docs = &model.attributes.docs;
    let inner = &model.attributes.inner;
    let visibility = respanned(&model.visibility);
    let mut signature = model.signature.clone();
    signature.ident = Ident::new("body", here());
    let body = &model.body;
    let noun = model.kind.noun();
    let summary = format!(" The body of the {noun}, without Skail around it.");
    let gap = (!docs.is_empty()).then(|| quote_spanned!(here()=> #[doc = ""]));
    quote_spanned! {here()=>
        #[doc = #summary]
        #gap
        #(#docs)*
        // The attribute demands what these lints advise against: owned parameters, `async`, a `Result`.
        #[allow(
            clippy::needless_pass_by_value,
            clippy::unnecessary_wraps,
            clippy::unused_async,
            clippy::missing_errors_doc
        )]
        #(#inner)*
        #visibility #signature #body
    }
}

/// The constant that stands for the parameter at this place among the recorded ones.
fn parameter_const(index: usize) -> Ident {
    format_ident!("__SKAIL_PARAMETER_{}", index, span = here())
}

/// The constant that stands for the `#[state]` parameter at this place among those.
fn state_const(index: usize) -> Ident {
    format_ident!("__SKAIL_STATE_{}", index, span = here())
}

/// `<Output as Outcome>::Value` or `::Error`.
fn projection(model: &Model, part: &str) -> TokenStream {
    let output = &model.output;
    let (first, last) = ends(model);
    let root = model.root.at(last);
    let part = Ident::new(part, last);
    let begin = quote_spanned!(first=> <);
    quote_spanned!(last=> #begin #output as #root::__private::Outcome>::#part)
}

/// An expression whose type mentions a projection, laid over the user's return type.
///
/// Every mention of a projection is an error of its own when the return type is no `Result`. Errors that
/// agree in text and place are shown once, so all of them get the one place where they help.
fn spread(model: &Model, expression: &TokenStream) -> TokenStream {
    let (first, last) = ends(model);
    let mut span = first;
    expression
        .clone()
        .into_iter()
        .map(|token| {
            let token = moved(token, span, first);
            span = last;
            token
        })
        .collect()
}

/// The spans of the return type's first and last token. They cannot be joined on a stable compiler, but
/// rustc joins those of the first and last token of whatever is parsed from them.
///
/// They are in the user's own context, where a lint looks for paths that are needlessly long. It leaves
/// those alone that begin with `::`, but not where the runtime goes by another name.
fn ends(model: &Model) -> (Span, Span) {
    let tokens = model.output.to_token_stream().into_iter();
    let mut spans = tokens.map(|token| match model.root.is_renamed() {
        true => token.span().resolved_at(here()),
        false => token.span(),
    });
    let first = spans.next().unwrap_or_else(Span::call_site);
    (first, spans.last().unwrap_or(first))
}

/// The visibility as written, with the place of the attribute: lints about a `pub` that reaches nobody
/// are told once, at the constructor.
fn respanned(visibility: &Visibility) -> TokenStream {
    visibility
        .to_token_stream()
        .into_iter()
        .map(|mut token| {
            token.set_span(token.span().located_at(Span::call_site()));
            token
        })
        .collect()
}
