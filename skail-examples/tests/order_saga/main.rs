//! The order saga as its user meets it: the program is run, killed, run again, and judged by what
//! it prints, by its exit code, and by what the world outside was asked.

mod bad_input;
mod crashes;
mod support;
mod whole_run;
