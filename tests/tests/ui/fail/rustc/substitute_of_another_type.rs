//! What runs in a command's place has the command's own types.

use skail_runtime::skail_command;
use skail_runtime::testing::TestSkail;

#[skail_command]
async fn charge(order: u32, cents: u32) -> anyhow::Result<String> {
    Ok(format!("{cents} for {order}"))
}

fn main() {
    let _ = TestSkail::builder().replace::<charge>().with(|(order, cents)| Ok(order + cents));
    let _ = TestSkail::builder().replace::<charge>().with(|(order,)| Ok(order));
}
