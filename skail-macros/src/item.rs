//! The annotated item, half parsed: attributes, visibility and signature; the body stays tokens.
//!
//! Must never look into the body: what is wrong there is for rustc to say, and an editor's half-written
//! line must not cost the function its expansion.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Signature, Token, Visibility};

/// An `fn` as it was written.
pub(crate) struct Item {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    /// `None` where a semicolon stands: the attribute is in a trait.
    pub(crate) body: Option<Group>,
}

impl Item {
    /// Reads an item.
    ///
    /// # Errors
    /// Where it is no function, or its signature is damaged.
    pub(crate) fn parse(tokens: TokenStream) -> syn::Result<Self> {
        Self::read.parse2(tokens)
    }

    fn read(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self {
            attributes: input.call(Attribute::parse_outer)?,
            visibility: input.parse()?,
            signature: Signature::parse(input)?,
            body: Self::read_body(input)?,
        })
    }

    fn read_body(input: ParseStream<'_>) -> syn::Result<Option<Group>> {
        if input.parse::<Option<Token![;]>>()?.is_some() {
            return Ok(None);
        }
        match input.parse()? {
            TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => Ok(Some(body)),
            other => Err(syn::Error::new_spanned(
                other,
                "expected the body of a function",
            )),
        }
    }
}
