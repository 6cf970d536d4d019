//! The function under the user's name: it makes a call and runs nothing.

use proc_macro2::{Delimiter, Group, TokenStream};
use quote::{quote, quote_spanned};
use syn::Ident;

use super::{ends, here, parameter_const, projection, spread};
use crate::kind::Kind;
use crate::model::Model;

/// ```text
/// async fn charge(#[state] gateway: &Gateway, id: Uuid) -> Result<Charge, Error> { … }
/// ```
/// becomes
/// ```text
/// fn charge(id: Uuid) -> CommandCall<Charge> { command_call(DESCRIPTOR, [id, recorded]) }
/// ```
pub(super) fn constructor(model: &Model) -> TokenStream {
    let gates = &model.attributes.gates;
    let docs = &model.attributes.docs;
    let outer = &model.attributes.outer;
    let visibility = &model.visibility;
    let parameters = model.recorded().map(|(name, ty)| quote!(#name: #ty));
    let output = call_type(model);
    let signature = signature_of_call(&model.signature, quote!(#(#parameters),*), &output);
    let body = body(model);
    quote_spanned! {here()=>
        #(#gates)*
        #(#docs)*
        // The type that is written here is longer than the one that the user wrote.
        #[allow(clippy::type_complexity)]
        #(#outer)*
        #visibility #signature #body
    }
}

/// `fn name(parameters) -> output`, with the user's own tokens where there are any: editors and lints
/// then take the function for the user's.
fn signature_of_call(
    signature: &syn::Signature,
    parameters: TokenStream,
    output: &TokenStream,
) -> TokenStream {
    let fn_token = signature.fn_token;
    let name = &signature.ident;
    let mut list = TokenStream::new();
    signature
        .paren_token
        .surround(&mut list, |inside| inside.extend(parameters));
    quote_spanned!(here()=> #fn_token #name #list -> #output)
}

/// `CommandCall<T>`, where `T` is what the user's `Result` holds.
fn call_type(model: &Model) -> TokenStream {
    let (first, last) = ends(model);
    let root = model.root.at(first);
    let call = match model.kind {
        Kind::Command => Ident::new("CommandCall", last),
        Kind::Function => Ident::new("FunctionCall", last),
    };
    let value = projection(model, "Value");
    quote_spanned!(last=> #root::#call<#value>)
}

fn body(model: &Model) -> Group {
    let root = model.root.at(here());
    let home = model.type_name();
    let make = match model.kind {
        Kind::Command => Ident::new("command_call", here()),
        Kind::Function => Ident::new("function_call", here()),
    };
    let pushes = model.recorded().enumerate().map(|(index, (name, _))| {
        let parameter = parameter_const(index);
        quote_spanned!(here()=> #home::#parameter.write(&mut __skail_arguments, #name);)
    });
    let count = model.recorded().count();
    let count = proc_macro2::Literal::usize_unsuffixed(count);
    let mutability = (model.recorded().next().is_some()).then(|| quote_spanned!(here()=> mut));
    let call = quote_spanned! {here()=>
        #root::__private::#make(#home::__SKAIL_DESCRIPTOR, __skail_arguments)
    };
    let call = spread(model, &call);
    let statements = quote_spanned! {here()=>
        let #mutability __skail_arguments = #root::__private::CallArguments::new(#count);
        #(#pushes)*
        #call
    };
    // With braces of our own rustc would take the function for foreign code and no longer say that
    // nobody calls it.
    let mut body = Group::new(Delimiter::Brace, statements);
    body.set_span(model.body.span());
    body
}
