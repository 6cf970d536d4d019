//! What is looked at in a body: the usual traps of determinism, and fresh ids as idempotency keys.
//!
//! Owns the helper attribute `#[skail(allow_nondeterminism)]`. Looks at tokens and needs no syntax tree:
//! so it sees into the arguments of macros, and what it has no opinion on stays as it was written.

mod allow;
mod determinism;
mod fresh_key;
mod paths;
mod traps;

use proc_macro2::Group;

use crate::errors::Errors;
use crate::kind::Kind;

/// Checks a body and gives it back without our helper attributes.
pub(crate) fn check(kind: Kind, body: &Group, errors: &mut Errors) -> Group {
    let checked = allow::split(body, errors);
    match kind {
        Kind::Command => fresh_key::check(checked.to_check, errors),
        Kind::Function => determinism::check(checked.to_check, errors),
    }
    checked.body
}
