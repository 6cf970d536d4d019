//! The body keeps its own return type: what is written in plain Rust compiles here.
#![deny(warnings)]

use skail_runtime::skail_command;

#[skail_command]
async fn parse(text: String) -> Result<Vec<i64>, std::num::ParseIntError> {
    if text.is_empty() {
        return Ok(vec![]);
    }
    let numbers = text.split(' ').map(str::parse).collect::<Result<_, _>>()?;
    Ok(numbers)
}

#[skail_command]
async fn never_ends_well() -> anyhow::Result<Box<[u8]>> {
    anyhow::bail!("no")
}

#[skail_command]
async fn nests() -> anyhow::Result<u8> {
    const ONE: u8 = 1;

    fn helper() -> u8 {
        ONE
    }

    async fn waits() -> u8 {
        helper()
    }

    Ok(waits().await)
}

fn main() {
    let _ = (parse(String::new()), nests());
    drop(never_ends_well::body());
}
