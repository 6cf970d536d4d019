//! The message goes into the body.
use skail_runtime::skail_command;

#[skail_command]
async fn charge(invoice: u64) -> anyhow::Result<u64> {
    let shared = std::rc::Rc::new(invoice);
    std::future::ready(()).await;
    Ok(*shared)
}

fn main() {}
