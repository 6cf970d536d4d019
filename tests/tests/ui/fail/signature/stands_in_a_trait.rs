//! A trait has no body to lead a name to.
use skail_runtime::skail_command;

trait Shop {
    #[skail_command]
    async fn charge(invoice: u64) -> anyhow::Result<u64>;
}

fn main() {}
