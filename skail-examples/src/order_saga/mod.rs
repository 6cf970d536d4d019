//! The main example: every invoice of a file becomes an order that is confirmed, compensated or
//! refunded, however often the process dies in between.
//!
//! | file | what it owns |
//! | --- | --- |
//! | `functions` | the saga itself: the annotated function and its commands |
//! | `run` | one run of the program, from the file of orders to the audit |
//! | `cli`, `progress`, `summary`, `figures` | what the user types and sees |
//! | `data_dir` | what lies where on disk |
//! | `outcome`, `audit` | how an order can end, and whether the world outside agrees |
//! | `steps` | counting finished steps, and dying after a given one |

pub mod audit;
pub mod cli;
pub mod data_dir;
pub mod figures;
pub mod functions;
pub mod outcome;
pub mod progress;
pub mod run;
pub mod steps;
pub mod summary;
