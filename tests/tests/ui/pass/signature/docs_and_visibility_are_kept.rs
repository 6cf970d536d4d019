//! Documentation, visibility and attributes reach what others see.
#![deny(warnings, missing_docs)]

/// Commands of a shop.
pub mod shop {
    use skail_runtime::skail_command;

    /// Charges a card.
    #[skail_command]
    pub async fn charge(invoice: u64) -> anyhow::Result<u64> {
        Ok(invoice)
    }

    /// Only for the crate.
    #[skail_command]
    pub(crate) async fn refund(invoice: u64) -> anyhow::Result<u64> {
        Ok(invoice)
    }

    /// Of an older version.
    #[skail_command]
    #[deprecated = "call `charge`"]
    pub async fn charge_v1(invoice: u64) -> anyhow::Result<u64> {
        Ok(invoice)
    }
}

fn main() {
    let _ = shop::charge(1);
    let _ = shop::charge::body(1);
    let _ = shop::refund(1);
    #[expect(deprecated)]
    let _ = shop::charge_v1(1);
}
