//! One program per pattern, in `src/bin`; what they are made of is here.
//!
//! Everything in this package is what a *user* of Skail writes: his orders, his warehouse, the
//! payment gateway that he calls. It must never reach into Skail's store; it knows the runtime's
//! public interface and nothing else.

pub mod gateway;
pub mod json_lines;
pub mod order_saga;
pub mod requests;
pub mod shop;
