//! All faults of one item, told together.
//!
//! Owns the list of faults. Must never decide what a fault is.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The faults found so far.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Adds a fault, shown on `culprit`.
    pub(crate) fn at(&mut self, culprit: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(culprit, message));
    }

    /// Adds a fault that knows its place.
    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// How many there are; a part that is left with more than it began with has a fault.
    pub(crate) fn count(&self) -> usize {
        self.0.iter().flatten().count()
    }

    /// One `compile_error!` for each.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0
            .map(|all| all.into_compile_error())
            .unwrap_or_default()
    }
}
