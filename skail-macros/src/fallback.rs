//! What is emitted beside errors.
//!
//! Owns the promise that the user's function never vanishes: editors go on completing in it, and code
//! that calls it goes on type-checking, so that one mistake is not twenty errors. Must never add an
//! error of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::punctuated::Punctuated;
use syn::{FnArg, Pat, ReturnType, Signature, Token};

use crate::attributes::Attributes;
use crate::body;
use crate::errors::Errors;
use crate::item::Item;
use crate::kind::Kind;
use crate::model::Root;
use crate::options::Options;
use crate::rules;
use crate::types::{self, Part};

/// Runs an attribute. A panic in it would be our bug; even then the user keeps the function.
pub(crate) fn guard(
    item: TokenStream,
    attribute: impl FnOnce(TokenStream) -> TokenStream,
) -> TokenStream {
    let kept = item.clone();
    catch_unwind(AssertUnwindSafe(|| attribute(item))).unwrap_or_else(|_| {
        let error = syn::Error::new(
            Span::call_site(),
            "this is a bug in Skail: please report it with the function that it happened to",
        );
        let error = error.into_compile_error();
        quote!(#kept #error)
    })
}

/// Why an item could not be read.
pub(crate) fn unreadable(kind: Kind, item: &TokenStream, error: &syn::Error) -> syn::Error {
    let is_fn = |token: TokenTree| matches!(token, TokenTree::Ident(word) if word == "fn");
    if item.clone().into_iter().any(is_fn) {
        // rustc has said so too, unless the syntax is newer than we are; then this is all there is.
        let message = format!("Skail cannot read this {}: {error}", kind.noun());
        return syn::Error::new(error.span(), message);
    }
    syn::Error::new(
        Span::call_site(),
        format!(
            "`#[{}]` makes a {} of an `async fn`: put it on one",
            kind.attribute(),
            kind.noun()
        ),
    )
}

/// The nearest thing to an expansion for an item whose signature breaks a rule.
pub(crate) fn stand_in(kind: Kind, item: &Item, options: &Options) -> TokenStream {
    if !can_be_called(&item.signature) {
        return as_written(kind, item);
    }
    let Some(body) = &item.body else {
        return as_written(kind, item);
    };
    let Attributes {
        gates,
        docs,
        outer,
        inner,
    } = Attributes::sort(&item.attributes);
    let visibility = &item.visibility;
    let constructor = constructor(kind, item, options);
    let mut name = item.signature.ident.clone();
    name.set_span(Span::call_site());
    let signature = mended(kind, &item.signature, options);
    let body = body::check(kind, body, &mut Errors::default());
    quote! {
        #(#gates)* #(#docs)* #(#outer)*
        #[allow(unused_variables)]
        #visibility #constructor { loop {} }

        #(#gates)*
        #[allow(non_camel_case_types, dead_code, missing_docs)]
        #visibility struct #name {}

        #(#gates)*
        #[allow(dead_code, missing_docs)]
        impl #name {
            #(#inner)*
            #visibility #signature #body
        }
    }
}

/// Whether a constructor and a type can stand beside the function: not in an `impl` or a trait, and not
/// where the return type means something only there.
fn can_be_called(signature: &Signature) -> bool {
    let mut types: Vec<&syn::Type> = Vec::new();
    for input in &signature.inputs {
        match input {
            FnArg::Receiver(_) => return false,
            FnArg::Typed(input) => types.push(&input.ty),
        }
    }
    let mentions_self = |ty: &&syn::Type| {
        types::parts(ty)
            .iter()
            .any(|(part, _)| *part == Part::SelfType)
    };
    let returns = match &signature.output {
        ReturnType::Default => true,
        ReturnType::Type(_, ty) => types::parts(ty)
            .iter()
            .all(|(part, _)| *part == Part::HashSet),
    };
    returns && !types.iter().any(mentions_self)
}

/// `fn name<…>(…) -> CommandCall<T>`, from whatever the parameters are.
fn constructor(kind: Kind, item: &Item, options: &Options) -> TokenStream {
    let signature = &item.signature;
    let mut inputs: Punctuated<TokenStream, Token![,]> = Punctuated::new();
    for (index, input) in signature.inputs.iter().enumerate() {
        let FnArg::Typed(input) = input else { continue };
        if input.attrs.iter().any(rules::is_state) {
            continue;
        }
        let name = match &*input.pat {
            Pat::Ident(name) => name.ident.clone(),
            _ => format_ident!("__skail_{}", index),
        };
        let ty = &input.ty;
        inputs.push(quote!(#name: #ty));
    }
    let root = Root::new(options.root.clone()).at(Span::call_site());
    let value = match &signature.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, ty) => quote!(<#ty as #root::__private::Outcome>::Value),
    };
    let call = match kind {
        Kind::Command => Ident::new("CommandCall", Span::call_site()),
        Kind::Function => Ident::new("FunctionCall", Span::call_site()),
    };
    let fn_token = signature.fn_token;
    let name = &signature.ident;
    let generics = &signature.generics;
    let clause = &generics.where_clause;
    quote!(#fn_token #name #generics (#inputs) -> #root::#call<#value> #clause)
}

/// The body's signature as it will be once the faults are mended, so that the body type-checks.
fn mended(kind: Kind, signature: &Signature, options: &Options) -> Signature {
    let mut signature = signature.clone();
    strip(&mut signature);
    signature.ident = Ident::new("body", Span::mixed_site());
    signature.constness = None;
    signature.abi = None;
    signature.variadic = None;
    if kind == Kind::Function || options.blocking.is_none() {
        signature.asyncness.get_or_insert_with(Default::default);
    }
    signature
}

/// The function as it was written, with Skail's helper attributes taken out.
fn as_written(kind: Kind, item: &Item) -> TokenStream {
    let attributes = item.attributes.iter().filter(|a| !rules::is_skail(a));
    let visibility = &item.visibility;
    let mut signature = item.signature.clone();
    strip(&mut signature);
    let body = match &item.body {
        Some(body) => body::check(kind, body, &mut Errors::default()).into_token_stream(),
        None => quote!(;),
    };
    quote!(#(#attributes)* #visibility #signature #body)
}

/// Takes `#[state]` and `#[skail]` off the parameters: nobody but us knows them.
pub(crate) fn strip(signature: &mut Signature) {
    for input in &mut signature.inputs {
        if let FnArg::Typed(input) = input {
            input
                .attrs
                .retain(|attribute| !rules::is_state(attribute) && !rules::is_skail(attribute));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_ours_leaves_the_function() {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let output = guard(
            quote!(
                async fn charge() {}
            ),
            |_| panic!("a bug"),
        );
        std::panic::set_hook(hook);
        let output = output.to_string();
        assert!(output.starts_with("async fn charge () { }"), "{output}");
        assert!(output.contains("please report it"), "{output}");
    }
}
