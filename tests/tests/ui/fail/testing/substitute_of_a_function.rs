//! A function orders commands and runs as it is; only commands are replaced.

use skail_runtime::skail_function;
use skail_runtime::testing::TestSkail;

#[skail_function]
async fn process(order: u32) -> anyhow::Result<u32> {
    Ok(order)
}

fn main() {
    let _ = TestSkail::builder().replace::<process>().with(|(order,): (u32,)| anyhow::Ok(order));
}
