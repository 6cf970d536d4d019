//! In nested modules, in other functions, and under names that the prelude has taken.
#![deny(warnings)]

mod outer {
    pub(super) mod inner {
        use skail_runtime::skail_command;

        #[skail_command]
        pub(in super::super) async fn charge(invoice: super::Invoice) -> anyhow::Result<u64> {
            Ok(invoice)
        }
    }

    pub(super) type Invoice = u64;
}

#[expect(dead_code)]
mod shadowed {
    use skail_runtime::{skail_command, skail_function};

    struct Result;
    struct Option;
    struct String;
    struct Ok;
    struct Err;
    struct Some;
    struct None;
    struct Box;
    struct Send;
    struct Copy;
    mod std {}
    mod core {}
    mod anyhow {}

    #[skail_command(idempotency_key = "{invoice}", timeout = "1s")]
    pub(super) async fn charge(invoice: u64) -> ::anyhow::Result<u64> {
        ::anyhow::Ok(invoice)
    }

    #[skail_function(retry_count = 1)]
    pub(super) async fn process(invoice: u64) -> ::anyhow::Result<u64> {
        ::anyhow::Ok(charge(invoice).await?)
    }
}

fn main() {
    use skail_runtime::skail_command;

    #[skail_command]
    async fn local(invoice: u64) -> anyhow::Result<u64> {
        Ok(invoice)
    }

    let _ = local(1);
    let _ = outer::inner::charge(1);
    let _ = shadowed::process(1);
}
