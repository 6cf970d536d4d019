//! The rules about what an annotated function returns, as far as its tokens tell.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{ReturnType, Signature, Type};

use crate::errors::Errors;
use crate::kind::Kind;
use crate::types::{self, Part};

/// The type behind the arrow, if there is one that can be recorded.
///
/// Whether it is a `Result` is for the compiler to say, which sees through aliases.
pub(crate) fn output(kind: Kind, signature: &Signature, errors: &mut Errors) -> Option<Type> {
    let noun = kind.noun();
    let ReturnType::Type(_, ty) = &signature.output else {
        errors.at(
            &signature.ident,
            format!(
                "a {noun} must return a `Result`, since Skail records what `Ok` holds and tries again \
                 on `Err`: write `-> anyhow::Result<()>`"
            ),
        );
        return None;
    };
    let parts = types::parts(ty);
    for (part, token) in &parts {
        let (culprit, message) = match part {
            Part::Borrow => (
                borrow(ty, token),
                format!(
                    "what a {noun} returns is recorded, so it must own its data: write `String` for \
                     `&str`, `Vec<T>` for `&[T]`, `T` for `&T`, and no lifetimes"
                ),
            ),
            Part::Impl => (
                token.clone(),
                format!(
                    "what a {noun} returns is recorded and decoded again, so its type needs a name: \
                     write the type instead of `impl`"
                ),
            ),
            Part::SelfType => (
                token.clone(),
                "`Self` has no meaning here: write the type's name".to_owned(),
            ),
            Part::Infer => (
                token.clone(),
                "a signature names its types: write the type instead of `_`".to_owned(),
            ),
            // A result is only compared with itself, whatever order it comes in.
            Part::HashSet => continue,
        };
        errors.at(culprit, message);
    }
    let passes = parts.iter().all(|(part, _)| *part == Part::HashSet);
    passes.then(|| Type::clone(ty))
}

/// The whole type if it is a reference, else the borrow within it.
fn borrow(ty: &Type, token: &TokenStream) -> TokenStream {
    match types::bare(ty) {
        Type::Reference(reference) => reference.to_token_stream(),
        _ => token.clone(),
    }
}
