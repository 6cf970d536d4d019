//! What runs the body: arguments in, outcome out.
//!
//! For a command the way in and the way out are a trait of their own, so that a test can put a closure of
//! the same types between them.

use proc_macro2::{Delimiter, Group, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::ext::IdentExt;

use super::{here, parameter_const, spread, state_const};
use crate::kind::Kind;
use crate::model::{Model, Parameter};
use crate::options::IdempotencyKey;

/// Decodes the arguments, borrows the state, calls the body and encodes what it returned.
pub(super) fn run(model: &Model) -> TokenStream {
    let root = model.root.at(here());
    let (read, finish) = match model.kind {
        Kind::Command => typed_ends(model),
        Kind::Function => (decoded(model), finish(model)),
    };
    let call = call(model);
    if !model.is_async() {
        return quote_spanned! {here()=>
            fn __skail_run(__skail_input: #root::__private::Input) -> #root::__private::BodyResult {
                #read
                let __skail_outcome = #call;
                #finish
            }
        };
    }
    // The one place that demands `Send`. Spanned at the user's name, its error is shown there and goes on
    // to what the body holds over which `.await`; spanned as ours, it is shown on the attribute.
    let name = model.signature.ident.span();
    let root_at_name = model.root.at(name);
    let mut block = Group::new(
        Delimiter::Brace,
        quote_spanned! {here()=>
            #read
            let __skail_outcome = #call.await;
            #finish
        },
    );
    block.set_span(name);
    let boxed = quote_spanned!(name=> #root_at_name::__private::boxed(async move #block));
    quote_spanned! {here()=>
        fn __skail_run(__skail_input: #root::__private::Input) -> #root::__private::BodyFuture {
            #boxed
        }
    }
}

/// A command by its types.
pub(super) fn typed(model: &Model) -> Option<TokenStream> {
    if model.kind != Kind::Command {
        return None;
    }
    let root = model.root.at(here());
    let gates = &model.attributes.gates;
    let home = model.type_name();
    let types = model.recorded().map(|(_, ty)| ty);
    let arguments = quote_spanned!(here()=> (#(#types,)*));
    let output = &model.output;
    let decoded = decoded(model);
    let key = model.options.idempotency_key.as_ref();
    let key = key.map(|key| business_key(model, key));
    let locals = (0..model.recorded().count()).map(local);
    let finish = finish(model);
    Some(quote_spanned! {here()=>
        #(#gates)*
        #[allow(clippy::type_complexity)]
        impl #root::__private::Command<#arguments, #output> for #home {
            fn __skail_read(
                __skail_input: &#root::__private::Input,
            ) -> ::core::result::Result<#arguments, #root::__private::BodyError> {
                #decoded
                #key
                ::core::result::Result::Ok((#(#locals,)*))
            }
            fn __skail_finish(
                __skail_input: &#root::__private::Input,
                __skail_outcome: #output,
            ) -> #root::__private::BodyResult {
                #finish
            }
        }
    })
}

/// The way in and the way out of a command's body, through [`typed`].
fn typed_ends(model: &Model) -> (TokenStream, TokenStream) {
    let root = model.root.at(here());
    let locals = (0..model.recorded().count()).map(local);
    let typed = quote_spanned!(here()=> <Self as #root::__private::Command<_, _>>);
    (
        quote_spanned!(here()=> let (#(#locals,)*) = #typed::__skail_read(&__skail_input)?;),
        quote_spanned!(here()=> #typed::__skail_finish(&__skail_input, __skail_outcome)),
    )
}

fn local(index: usize) -> syn::Ident {
    format_ident!("__skail_{}", index, span = here())
}

fn decoded(model: &Model) -> TokenStream {
    let reads = model.recorded().enumerate().map(|(index, _)| {
        let local = local(index);
        let parameter = parameter_const(index);
        quote_spanned! {here()=>
            let #local = Self::#parameter.read(&mut __skail_arguments)?;
        }
    });
    let mutability = (model.recorded().next().is_some()).then(|| quote_spanned!(here()=> mut));
    quote_spanned! {here()=>
        let #mutability __skail_arguments = __skail_input.arguments()?;
        #(#reads)*
        __skail_arguments.end()?;
    }
}

/// The user's own literal goes to `format!`. The values are named: a literal from a `macro_rules!` could
/// not see our locals. What cannot be written out is told on the literal.
fn business_key(model: &Model, key: &IdempotencyKey) -> TokenStream {
    let text = &key.text;
    let at_text = text.span().resolved_at(here());
    let root = model.root.at(at_text);
    let (parts, values): (TokenStream, Vec<_>) = model
        .recorded()
        .enumerate()
        .filter(|(_, (name, _))| key.placeholders.iter().any(|p| name.unraw() == p))
        .map(|(index, (name, _))| {
            let name = name.unraw();
            let mut local = local(index);
            local.set_span(at_text);
            let part = format_ident!("__skail_part_{}", index, span = here());
            let make = quote_spanned!(at_text=> #root::__private::key_part(&#local));
            (
                quote_spanned!(here()=> let #part = #make;),
                quote_spanned!(here()=> #name = #part),
            )
        })
        .unzip();
    quote_spanned! {here()=>
        {
            #parts
            __skail_input.set_idempotency_key(#root::__private::format!(#text, #(#values),*));
        }
    }
}

fn call(model: &Model) -> TokenStream {
    let (mut recorded, mut states) = (0, 0);
    let arguments = model.parameters.iter().map(|parameter| match parameter {
        Parameter::State { .. } => {
            let state = state_const(states);
            states += 1;
            quote_spanned!(here()=> Self::#state.lend(&__skail_input))
        }
        Parameter::Recorded { .. } => {
            let local = local(recorded);
            recorded += 1;
            quote_spanned!(here()=> #local)
        }
    });
    quote_spanned!(here()=> Self::body(#(#arguments),*))
}

/// Which of the five `finish` it is goes by method lookup, so their traits must be in scope.
fn finish(model: &Model) -> TokenStream {
    let root = model.root.at(here());
    let ending = spread(model, &quote_spanned!(here()=> Self::__SKAIL_ENDING));
    let input = match model.kind {
        Kind::Command => quote_spanned!(here()=> __skail_input),
        Kind::Function => quote_spanned!(here()=> &__skail_input),
    };
    let finish = quote_spanned! {here()=>
        (&&&&#root::__private::Returned::new(__skail_outcome)).finish(&#ending, #input)
    };
    let finish = spread(model, &finish);
    quote_spanned! {here()=>
        use #root::__private::finish::*;
        #finish
    }
}
