//! Whatever is a `Result` will do.
#![deny(warnings)]

use skail_runtime::{skail_command, skail_function};

#[derive(Debug, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[error("refused")]
pub struct Refused;

type Outcome<T> = Result<T, Refused>;
type Done = std::io::Result<()>;

#[skail_command]
async fn with_anyhow() -> anyhow::Result<()> {
    Ok(())
}

#[skail_command]
async fn with_std() -> std::result::Result<(), Refused> {
    Err(Refused)
}

#[skail_command]
async fn with_an_alias() -> Outcome<Option<u64>> {
    Ok(None)
}

#[skail_command]
async fn with_all_in_an_alias() -> Done {
    Ok(())
}

#[skail_function]
async fn process() -> Outcome<String> {
    if let Err(error) = with_std().await {
        let _: Option<Refused> = error.downcast();
    }
    let _: Option<u64> = with_an_alias().await.map_err(|_| Refused)?;
    let _ = (with_anyhow().await, with_all_in_an_alias().await);
    Ok(String::new())
}

fn main() {
    let _ = process();
}
