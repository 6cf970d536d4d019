//! A command or function as validated facts: nothing left to question.
//!
//! Owns what the expansion is made from. Must never hold anything that a rule has not passed.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;
use syn::{Path, Signature, Type, Visibility};

use crate::attributes::Attributes;
use crate::kind::Kind;
use crate::options::Options;

/// One annotated item.
pub(crate) struct Model {
    pub(crate) kind: Kind,
    pub(crate) root: Root,
    pub(crate) attributes: Attributes,
    pub(crate) visibility: Visibility,
    /// As it was written, with Skail's helper attributes taken out.
    pub(crate) signature: Signature,
    /// As it was written, with Skail's helper attributes taken out.
    pub(crate) body: Group,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) output: Type,
    pub(crate) options: Options,
}

/// One parameter.
#[derive(Clone)]
pub(crate) enum Parameter {
    /// Recorded, and decoded for each attempt.
    Recorded { name: Ident, ty: Type },
    /// Lent from what the builder was given: `#[state] name: &ty`.
    State { ty: Type },
}

impl Model {
    /// The recorded name.
    pub(crate) fn recorded_name(&self) -> String {
        match &self.options.name {
            Some(name) => name.value(),
            None => self.signature.ident.unraw().to_string(),
        }
    }

    /// The recorded parameters, in order.
    pub(crate) fn recorded(&self) -> impl Iterator<Item = (&Ident, &Type)> {
        self.parameters
            .iter()
            .filter_map(|parameter| match parameter {
                Parameter::Recorded { name, ty } => Some((name, ty)),
                Parameter::State { .. } => None,
            })
    }

    /// The types that are lent, in order.
    pub(crate) fn states(&self) -> impl Iterator<Item = &Type> {
        self.parameters
            .iter()
            .filter_map(|parameter| match parameter {
                Parameter::Recorded { .. } => None,
                Parameter::State { ty } => Some(ty),
            })
    }

    /// The name for the type beside the constructor. Its place is the attribute, not the user's name:
    /// else an editor shows the function as a type, and lints about types fire on it.
    pub(crate) fn type_name(&self) -> Ident {
        let mut name = self.signature.ident.clone();
        name.set_span(Span::call_site());
        name
    }

    /// Whether the body is an `async fn`.
    pub(crate) fn is_async(&self) -> bool {
        self.signature.asyncness.is_some()
    }
}

/// The way to the runtime: `::skail_runtime`, or what `crate = …` says.
#[derive(Clone)]
pub(crate) struct Root(Option<Path>);

impl Root {
    pub(crate) fn new(path: Option<Path>) -> Self {
        Self(path)
    }

    /// Whether the runtime goes by another name.
    pub(crate) fn is_renamed(&self) -> bool {
        self.0.is_some()
    }

    /// The path, so that faults in what follows it are shown at `span` and not at the attribute.
    ///
    /// A path that the user wrote is taken out of the user's context: a lint would call it needlessly
    /// long at every place where it is used.
    pub(crate) fn at(&self, span: Span) -> TokenStream {
        let Some(path) = &self.0 else {
            return quote_spanned!(span=> ::skail_runtime);
        };
        let tokens = path.to_token_stream().into_iter();
        tokens
            .map(|token| moved(token, span, Span::mixed_site()))
            .collect()
    }
}

/// The token at another place and in another context. Only `$crate` keeps its own: it means nothing
/// elsewhere.
pub(crate) fn moved(mut token: TokenTree, place: Span, context: Span) -> TokenTree {
    let keeps = matches!(&token, TokenTree::Ident(word) if word == "$crate");
    let context = if keeps { token.span() } else { context };
    token.set_span(context.located_at(place));
    token
}
