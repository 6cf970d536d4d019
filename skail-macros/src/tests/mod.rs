//! What the attributes write, without a compiler: shape, names, and standing up to damage.

mod damage;
mod documentation;
mod golden;
mod names;

use proc_macro2::{TokenStream, TokenTree};

use crate::kind::Kind;

/// Runs the attribute that stands first in `code` on the rest of it.
fn expand(code: &str) -> TokenStream {
    let tokens: TokenStream = code.parse().expect("the code of a test lexes");
    let (kind, options, item) = take_attribute(tokens);
    crate::attribute(kind, options, item)
}

/// `#[skail_command(options)] item`, taken apart.
fn take_attribute(tokens: TokenStream) -> (Kind, TokenStream, TokenStream) {
    let mut tokens = tokens.into_iter().skip(1);
    let Some(TokenTree::Group(attribute)) = tokens.next() else {
        panic!("the code of a test begins with its attribute");
    };
    let mut attribute = attribute.stream().into_iter();
    let kind = match attribute.next().map(|name| name.to_string()).as_deref() {
        Some("skail_command") => Kind::Command,
        Some("skail_function") => Kind::Function,
        other => panic!("no attribute of ours: {other:?}"),
    };
    let options = match attribute.next() {
        Some(TokenTree::Group(options)) => options.stream(),
        _ => TokenStream::new(),
    };
    (kind, options, tokens.collect())
}

/// All idents, at any depth.
fn idents(tokens: TokenStream, all: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => idents(group.stream(), all),
            TokenTree::Ident(ident) => all.push(ident.to_string()),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}
