//! Who is let in, and what browsers may do with what they get.
//!
//! Owns the checks that come before anything is looked up. Must never know what a request is about.

mod headers;
mod host;
mod origin;
mod token;

pub(crate) use headers::headers;
pub(crate) use host::host;
pub(crate) use origin::origin;
pub(crate) use token::{COOKIE, Token, token};
