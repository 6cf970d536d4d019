//! What runs the body: arguments in, outcome out.

use proc_macro2::TokenStream;
use quote::{format_ident, quote_spanned};

use super::{here, parameter_const};
use crate::model::{Model, Parameter};
use crate::options::IdempotencyKey;

/// Decodes the arguments, borrows the state, calls the body and encodes what it returned.
pub(super) fn run(model: &Model) -> TokenStream {
    let root = model.root.at(here());
    let decoded = decoded(model);
    let key = model.options.idempotency_key.as_ref();
    let key = key.map(|key| business_key(model, key));
    let call = call(model);
    let finish = finish(model);
    if !model.is_async() {
        return quote_spanned! {here()=>
            fn __skail_run(__skail_input: #root::__private::Input) -> #root::__private::BodyResult {
                #decoded
                #key
                let __skail_outcome = #call;
                #finish
            }
        };
    }
    let name = model.signature.ident.span().resolved_at(here());
    let named_root = model.root.at(name);
    // The one place that demands `Send`, at the user's name: the error then shows what the user's body
    // holds over which `.await`.
    let boxed = quote_spanned!(name=> #named_root::__private::boxed);
    quote_spanned! {here()=>
        fn __skail_run(__skail_input: #root::__private::Input) -> #root::__private::BodyFuture {
            #boxed(async move {
                #decoded
                #key
                let __skail_outcome = #call.await;
                #finish
            })
        }
    }
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

/// The user's own literal goes to `format!`, so that what the compiler says about a placeholder is said
/// on it. The values are named: a literal from a `macro_rules!` could not see our locals.
fn business_key(model: &Model, key: &IdempotencyKey) -> TokenStream {
    let root = model.root.at(here());
    let text = &key.text;
    let values = model
        .recorded()
        .enumerate()
        .filter(|(_, (name, _))| key.placeholders.iter().any(|p| **name == **p))
        .map(|(index, (name, _))| {
            let local = local(index);
            quote_spanned!(here()=> #name = &#local)
        });
    quote_spanned! {here()=>
        __skail_input.set_idempotency_key(#root::__private::format!(#text, #(#values),*));
    }
}

fn call(model: &Model) -> TokenStream {
    let mut recorded = 0;
    let arguments = model.parameters.iter().map(|parameter| match parameter {
        Parameter::State { ty } => quote_spanned!(here()=> __skail_input.state::<#ty>()),
        Parameter::Recorded { .. } => {
            let local = local(recorded);
            recorded += 1;
            quote_spanned!(here()=> #local)
        }
    });
    quote_spanned!(here()=> Self::body(#(#arguments),*))
}

fn finish(model: &Model) -> TokenStream {
    let span = syn::spanned::Spanned::span(&model.output).resolved_at(here());
    let root = model.root.at(here());
    let output = &model.output;
    let finish = syn::Ident::new("finish", span);
    quote_spanned! {here()=>
        let __skail_encoder = {
            use #root::__private::{TypedError as _, UntypedError as _};
            (&#root::__private::ErrorProbe::<<#output as #root::__private::Outcome>::Error>::new())
                .encoder()
        };
        __skail_input.#finish(__skail_outcome, __skail_encoder)
    }
}
