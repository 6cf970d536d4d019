//! What the tests of dying processes and lost power share: a load whose every byte can be predicted, what
//! was acknowledged of it, and processes of this same test program.
#![allow(dead_code, reason = "each of the programs uses a part")]

pub(crate) mod calls;
pub(crate) mod child;
pub(crate) mod follow;
pub(crate) mod load;
pub(crate) mod model;
pub(crate) mod raw;
