//! A raw identifier is recorded without its `r#`.
#![deny(warnings)]

use skail_runtime::skail_command;

#[skail_command(idempotency_key = "{type}-{naïve:>8}")]
async fn r#match(r#type: u64, naïve: String) -> anyhow::Result<String> {
    Ok(format!("{type}{naïve}", type = r#type))
}

fn main() {
    let _ = r#match(1, String::new());
    let _ = r#match::body(1, String::new());
}
