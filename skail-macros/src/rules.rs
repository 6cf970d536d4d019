//! The rules of an annotated item, one small function each.
//!
//! Owns which signatures can be durable and how it is said. Each rule looks at one thing, puts its fault
//! on the culprit and says what to write instead. Must never expand.

mod output;
mod parameters;

use syn::{Attribute, Safety, Signature};

use crate::attributes::Attributes;
use crate::body;
use crate::errors::Errors;
use crate::fallback;
use crate::item::Item;
use crate::kind::Kind;
use crate::model::{Model, Root};
use crate::options::{IdempotencyKey, Options};

use output::output;
pub(crate) use parameters::is_state;
use parameters::parameters;

/// The rules about everything in front of the parameters, and about what surrounds the item.
pub(crate) fn header(kind: Kind, item: &Item, options: &Options, errors: &mut Errors) {
    asyncness(kind, &item.signature, options, errors);
    constness(kind, &item.signature, errors);
    safety(kind, &item.signature, errors);
    abi(kind, &item.signature, errors);
    generics(kind, &item.signature, errors);
    variadic(kind, &item.signature, errors);
    one_attribute(item, errors);
    if item.body.is_none() {
        errors.at(
            &item.signature,
            format!(
                "a {} needs a body: it cannot stand in a trait, since its recorded name must lead to \
                 one body; annotate an `async fn` of a module",
                kind.noun()
            ),
        );
    }
}

fn asyncness(kind: Kind, signature: &Signature, options: &Options, errors: &mut Errors) {
    match (kind, &signature.asyncness, &options.blocking) {
        (Kind::Command, None, None) => errors.at(
            signature.fn_token,
            "a command is an `async fn`: put `async` before `fn`, or write \
             `#[skail_command(blocking)]` for a plain `fn` that may block its thread",
        ),
        (Kind::Function, None, _) => errors.at(
            signature.fn_token,
            "a function waits for its commands: put `async` before `fn`",
        ),
        (Kind::Command, Some(_), Some(word)) => errors.at(
            word,
            "`blocking` is for a plain `fn`: take the option away, or the `async`",
        ),
        (Kind::Command, None, Some(_))
        | (Kind::Command, Some(_), None)
        | (Kind::Function, Some(_), _) => {}
    }
}

fn constness(kind: Kind, signature: &Signature, errors: &mut Errors) {
    if let Some(token) = signature.constness {
        let noun = kind.noun();
        errors.at(
            token,
            format!(
                "a {noun} is run and recorded, not computed by the compiler: take `const` away"
            ),
        );
    }
}

fn safety(kind: Kind, signature: &Signature, errors: &mut Errors) {
    if let Safety::Unsafe(token) = signature.safety {
        errors.at(
            token,
            format!(
                "a {} runs again after a crash, where nobody can vouch for it: take `unsafe` away and \
                 put an `unsafe` block into the body",
                kind.noun()
            ),
        );
    }
}

fn abi(kind: Kind, signature: &Signature, errors: &mut Errors) {
    if let Some(abi) = &signature.abi {
        errors.at(
            abi,
            format!(
                "a {} is called by Skail only, so it has no calling convention of its own: take \
                 `extern` away",
                kind.noun()
            ),
        );
    }
}

fn generics(kind: Kind, signature: &Signature, errors: &mut Errors) {
    let generics = &signature.generics;
    let noun = kind.noun();
    let only_lifetimes = generics.lifetimes().count() == generics.params.len();
    if generics.params.is_empty() {
        if let Some(clause) = &generics.where_clause {
            errors.at(
                clause,
                format!("a {noun} is not generic, so there is nothing to bound: take `where` away"),
            );
        }
    } else if only_lifetimes {
        errors.at(
            &generics.params,
            format!(
                "a {noun} outlives whoever starts it, so it borrows nothing: take lifetimes away"
            ),
        );
    } else {
        errors.at(
            &generics.params,
            format!(
                "a {noun} cannot be generic, since its recorded name must lead to one body after a \
                 restart: write one {noun} for each type, each calling a generic helper"
            ),
        );
    }
}

fn variadic(kind: Kind, signature: &Signature, errors: &mut Errors) {
    if let Some(variadic) = &signature.variadic {
        errors.at(
            variadic,
            format!(
                "a {} records each of its arguments, so it must know how many there are: take `Vec<T>`",
                kind.noun()
            ),
        );
    }
}

/// Both attributes on one item, one of them twice, or the helper of statements.
fn one_attribute(item: &Item, errors: &mut Errors) {
    for attribute in item.attributes.iter().filter(|a| is_skail(a)) {
        let message = if attribute.path().is_ident("skail") {
            "`#[skail(…)]` belongs on a statement in the body: put it on the one that needs it"
        } else {
            "an `fn` is one command or one function: keep one of the two attributes"
        };
        errors.at(attribute, message);
    }
}

/// Whether this is one of our attributes, as far as its name tells.
pub(crate) fn is_skail(attribute: &Attribute) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|last| {
        last.ident == "skail" || last.ident == "skail_command" || last.ident == "skail_function"
    })
}

/// The model of an item whose signature keeps all rules.
///
/// Faults of options and in the body are told, but do not keep the item from being expanded: what is
/// around it then type-checks as it will once they are mended.
pub(crate) fn judge(
    kind: Kind,
    item: &Item,
    options: &Options,
    errors: &mut Errors,
) -> Option<Model> {
    let before = errors.count();
    header(kind, item, options, errors);
    let parameters = parameters(kind, &item.signature, errors);
    let output = output(kind, &item.signature, errors);
    let sound = errors.count() == before;
    let idempotency_key = placeholders(options, &item.signature, errors);
    let body = body::check(kind, item.body.as_ref()?, errors);
    if !sound {
        return None;
    }
    let mut signature = item.signature.clone();
    fallback::strip(&mut signature);
    Some(Model {
        kind,
        root: Root::new(options.root.clone()),
        attributes: Attributes::sort(&item.attributes),
        visibility: item.visibility.clone(),
        signature,
        body,
        parameters,
        output: output?,
        options: Options {
            idempotency_key,
            ..options.clone()
        },
    })
}

/// The idempotency key, if each of its placeholders is a recorded parameter.
fn placeholders(
    options: &Options,
    signature: &Signature,
    errors: &mut Errors,
) -> Option<IdempotencyKey> {
    let key = options.idempotency_key.as_ref()?;
    let before = errors.count();
    for placeholder in &key.placeholders {
        if let Some(message) = parameters::placeholder(placeholder, signature) {
            errors.at(&key.text, message);
        }
    }
    (errors.count() == before).then(|| key.clone())
}
