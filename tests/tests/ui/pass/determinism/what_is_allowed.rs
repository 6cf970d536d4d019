//! A statement of any kind can be let through.
#![deny(warnings)]

use std::time::Instant;

use skail_runtime::{skail_command, skail_function};

#[skail_command]
async fn work() -> anyhow::Result<()> {
    Ok(())
}

fn finish(_start: Instant, _end: Instant) -> anyhow::Result<()> {
    Ok(())
}

#[skail_function]
async fn process(verbose: bool) -> anyhow::Result<()> {
    #[skail(allow_nondeterminism)]
    let start = Instant::now();
    work().await?;
    if verbose {
        #[skail(allow_nondeterminism)]
        println!("{:?} since {start:?}", Instant::now());
    }
    match verbose {
        true => {
            #[skail(allow_nondeterminism)]
            {
                drop(std::env::var("HOME"));
                drop(std::env::var("USER"));
            }
        }
        false => {}
    }
    #[skail(allow_nondeterminism)]
    for _ in 0..fastrand::u8(..) {}
    #[skail(allow_nondeterminism)]
    fn helper() -> Instant {
        Instant::now()
    }
    #[skail(allow_nondeterminism)]
    return finish(helper(), Instant::now());
}

fn main() {
    let _ = process(true);
}
