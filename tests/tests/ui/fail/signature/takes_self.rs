//! There is no value to call it on after a restart.
use skail_runtime::skail_command;

struct Shop;

impl Shop {
    #[skail_command]
    async fn charge(&self, invoice: u64) -> anyhow::Result<u64> {
        Ok(invoice)
    }
}

fn main() {}
