//! The arguments of macros are looked at too.
use skail_runtime::skail_function;

#[skail_function]
async fn process() -> anyhow::Result<()> {
    println!("{:?}", std::time::Instant::now());
    Ok(())
}

fn main() {}
