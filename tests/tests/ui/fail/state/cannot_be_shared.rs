//! A `Cell` is for one thread.
use skail_runtime::skail_command;

pub type Counter = std::cell::Cell<u64>;

#[skail_command(blocking)]
fn count(#[state] counter: &Counter) -> anyhow::Result<()> {
    counter.set(counter.get() + 1);
    Ok(())
}

fn main() {}
