//! What is emitted beside errors.
//!
//! Owns the promise that the user's function never vanishes: editors go on completing in it, and code
//! that calls it goes on type-checking. Must never add an error of its own.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::FnArg;

use crate::item::Item;
use crate::rules;

/// The function as it was written, with Skail's helper attributes taken out.
pub(crate) fn as_written(item: &Item) -> TokenStream {
    let attributes = &item.attributes;
    let visibility = &item.visibility;
    let mut signature = item.signature.clone();
    strip(&mut signature);
    let body = item
        .body
        .as_ref()
        .map_or_else(|| quote!(;), ToTokens::to_token_stream);
    quote!(#(#attributes)* #visibility #signature #body)
}

/// Takes `#[state]` off the parameters: nobody but us knows it.
pub(crate) fn strip(signature: &mut syn::Signature) {
    for input in &mut signature.inputs {
        if let FnArg::Typed(input) = input {
            input.attrs.retain(|attribute| !rules::is_state(attribute));
        }
    }
}
