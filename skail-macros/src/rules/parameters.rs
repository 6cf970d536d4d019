//! The rules about parameters.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Attribute, FnArg, Pat, PatType, Receiver, Signature, Type, TypeReference};

use crate::errors::Errors;
use crate::kind::Kind;
use crate::model::Parameter;
use crate::options::nearest;
use crate::types::{self, Part};

/// The parameters. Shorter than those of the signature if one of them has a fault.
pub(crate) fn parameters(kind: Kind, signature: &Signature, errors: &mut Errors) -> Vec<Parameter> {
    signature
        .inputs
        .iter()
        .filter_map(|input| match input {
            FnArg::Receiver(receiver) => {
                self_value(kind, receiver, errors);
                None
            }
            FnArg::Typed(input) => parameter(kind, input, errors),
        })
        .collect()
}

fn self_value(kind: Kind, receiver: &Receiver, errors: &mut Errors) {
    errors.at(
        receiver,
        format!(
            "a {} has no `self`, since it runs again after a restart, when the value is gone: make it \
             a free function, with `#[state]` for what is shared and plain parameters for the rest",
            kind.noun()
        ),
    );
}

fn parameter(kind: Kind, input: &PatType, errors: &mut Errors) -> Option<Parameter> {
    let before = errors.count();
    attributes(&input.attrs, errors);
    let name = name(kind, &input.pat, errors);
    let parameter = if input.attrs.iter().any(is_state) {
        Some(Parameter::State {
            ty: state(&input.ty, errors)?,
        })
    } else {
        recorded(kind, &input.ty, errors);
        Some(Parameter::Recorded {
            name: name?,
            ty: Type::clone(&input.ty),
        })
    };
    parameter.filter(|_| errors.count() == before)
}

/// Whether this is the helper attribute `#[state]`.
pub(crate) fn is_state(attribute: &Attribute) -> bool {
    attribute.path().is_ident("state")
}

/// Why a placeholder of the idempotency key is none; `None` if it is a recorded parameter.
pub(super) fn placeholder(placeholder: &str, signature: &Signature) -> Option<String> {
    let mut recorded = Vec::new();
    for input in &signature.inputs {
        let FnArg::Typed(input) = input else { continue };
        let Pat::Ident(name) = &*input.pat else {
            continue;
        };
        let name = name.ident.unraw().to_string();
        let lent = input.attrs.iter().any(is_state);
        match (name == placeholder, lent) {
            (true, false) => return None,
            (true, true) => {
                return Some(format!(
                    "`{placeholder}` is `#[state]` and can differ from process to process: use a \
                     recorded parameter in the idempotency key"
                ));
            }
            (false, false) => recorded.push(name),
            (false, true) => {}
        }
    }
    let hint = match nearest(placeholder, recorded.iter().map(String::as_str)) {
        Some(name) => format!("did you mean `{{{name}}}`?"),
        None if recorded.is_empty() => "it has none that is recorded".to_owned(),
        None => format!("it has `{}`", recorded.join("`, `")),
    };
    Some(format!(
        "the idempotency key names `{{{placeholder}}}`, but the command has no such parameter: {hint}"
    ))
}

fn attributes(attributes: &[Attribute], errors: &mut Errors) {
    for attribute in attributes {
        let path = attribute.path();
        if path.is_ident("cfg") || path.is_ident("cfg_attr") {
            errors.at(
                attribute,
                "a parameter cannot come and go with `cfg`, since its recorded arguments are read by \
                 place: put the `cfg` on two versions of the whole function",
            );
        } else if is_state(attribute) && attribute.meta.require_path_only().is_err() {
            errors.at(attribute, "`#[state]` takes no value: write the word alone");
        } else if super::is_skail(attribute) {
            errors.at(
                attribute,
                "`#[skail(…)]` belongs on a statement in the body",
            );
        }
    }
    if let Some(second) = attributes.iter().filter(|a| is_state(a)).nth(1) {
        errors.at(second, "`#[state]` is given twice: keep one of the two");
    }
}

/// A parameter must have a name, which is what the record and the Monitor call it.
fn name(kind: Kind, pattern: &Pat, errors: &mut Errors) -> Option<Ident> {
    if let Pat::Ident(ident) = pattern
        && ident.by_ref.is_none()
        && ident.subpat.is_none()
    {
        return Some(ident.ident.clone());
    }
    errors.at(
        pattern,
        format!(
            "a parameter of a {} needs a plain name to be recorded under: give it one and take the \
             pattern apart in the body with `let`",
            kind.noun()
        ),
    );
    None
}

/// `#[state] x: &T`: the `T`.
fn state(ty: &Type, errors: &mut Errors) -> Option<Type> {
    let before = errors.count();
    let Type::Reference(reference) = types::bare(ty) else {
        let borrowed = text(ty);
        errors.at(
            ty,
            format!("a `#[state]` parameter is lent, not given: write `&{borrowed}`"),
        );
        return None;
    };
    if let Some(token) = reference.mutability {
        errors.at(
            token,
            "a `#[state]` value is lent to many bodies at once: write `&` without `mut`, and put a \
             `Mutex` inside the value",
        );
    }
    if let Some(lifetime) = &reference.lifetime {
        errors.at(
            lifetime,
            "a `#[state]` value is lent for the time of one body: write `&` without a lifetime",
        );
    }
    state_inside(reference, errors);
    (errors.count() == before).then(|| Type::clone(&reference.elem))
}

fn state_inside(reference: &TypeReference, errors: &mut Errors) {
    let inside = types::bare(&reference.elem);
    let sized = match inside {
        Type::TraitObject(object) => Some(format!("Arc<{}>", text(object))),
        Type::Slice(slice) => Some(format!("Vec<{}>", text(&slice.elem))),
        Type::Path(path) if path.path.is_ident("str") => Some("String".to_owned()),
        _ => None,
    };
    if let Some(sized) = sized {
        errors.at(
            inside,
            format!("the builder holds a `#[state]` value by its own type: write `&{sized}`"),
        );
    }
    for (part, token) in types::parts(inside) {
        let message = match part {
            Part::Borrow => {
                "a `#[state]` value outlives every body, so it must own its data: no borrows inside"
            }
            Part::Impl => {
                "the builder finds a `#[state]` value by its type: name it instead of `impl`"
            }
            Part::SelfType => "`Self` has no meaning here: write the type's name",
            Part::Infer => "a signature names its types: write the type instead of `_`",
            Part::HashSet => continue,
        };
        errors.at(token, message);
    }
}

/// What goes into the history must own its data and have a name for its type.
fn recorded(kind: Kind, ty: &Type, errors: &mut Errors) {
    if let Type::Reference(reference) = types::bare(ty) {
        errors.at(ty, borrowed(kind, reference));
        return;
    }
    let noun = kind.noun();
    for (part, token) in types::parts(ty) {
        let message = match part {
            Part::Borrow => format!(
                "an argument of a {noun} is recorded, so its type must own its data: no borrows and \
                 no lifetimes"
            ),
            Part::Impl => format!(
                "an argument of a {noun} is decoded again after a restart, so its type needs a name: \
                 write the type instead of `impl`"
            ),
            Part::SelfType => "`Self` has no meaning here: write the type's name".to_owned(),
            Part::Infer => "a signature names its types: write the type instead of `_`".to_owned(),
            Part::HashSet => format!(
                "a `HashSet` comes back in another order each time, so an argument of a {noun} would \
                 never match its record: write `BTreeSet`"
            ),
        };
        errors.at(token, message);
    }
}

fn borrowed(kind: Kind, reference: &TypeReference) -> String {
    let noun = kind.noun();
    let given = text(reference);
    let owned = owned(types::bare(&reference.elem));
    let shared = match types::bare(&reference.elem) {
        Type::Path(path) if !path.path.is_ident("str") && reference.mutability.is_none() => {
            ", or put `#[state]` before a client, a pool or the like that the builder lends"
        }
        _ => "",
    };
    format!(
        "an argument of a {noun} is recorded, so it must own its data: write `{owned}` instead of \
         `{given}`{shared}"
    )
}

fn owned(ty: &Type) -> String {
    match ty {
        Type::Slice(slice) => format!("Vec<{}>", text(&slice.elem)),
        Type::TraitObject(_) => "a type of your own".to_owned(),
        Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
        Type::Path(path) => match path.path.segments.last() {
            Some(last) if last.ident == "Path" => "PathBuf".to_owned(),
            _ => text(ty),
        },
        _ => text(ty),
    }
}

/// Tokens as a person writes them.
fn text(tokens: &impl ToTokens) -> String {
    let tokens: TokenStream = tokens.to_token_stream();
    let spaced = quote!(#tokens).to_string();
    let mut text = spaced.replace(" :: ", "::").replace("& ", "&");
    for (from, to) in [
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        ("' ", "'"),
    ] {
        text = text.replace(from, to);
    }
    text
}
