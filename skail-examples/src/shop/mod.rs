//! The shop: its orders, what it makes of them, and its warehouse.
//!
//! It is plain Rust that would look the same without durable execution, and must never know of it.

pub mod check;
pub mod orders;
pub mod read;
pub mod stock;
pub mod warehouse;
