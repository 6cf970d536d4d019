//! Thirty commands with borrowed state in one function are still `Send` and general enough.
#![deny(warnings)]

use skail_runtime::{skail_command, skail_function};

pub struct Shop {
    names: Vec<String>,
}

#[skail_command]
async fn greet(#[state] shop: &Shop, name: String) -> anyhow::Result<usize> {
    let lengths = shop
        .names
        .iter()
        .map(|known| async { known.len() + name.len() });
    Ok(futures::future::join_all(lengths).await.into_iter().sum())
}

#[skail_function]
async fn process(#[state] shop: &Shop, names: Vec<String>) -> anyhow::Result<usize> {
    let borrowed: Vec<&str> = names.iter().map(String::as_str).collect();
    let calls = borrowed
        .iter()
        .cycle()
        .take(30)
        .map(|name| greet((*name).to_owned()));
    let greeted = futures::future::try_join_all(calls).await?;
    let (first, second) = tokio::try_join!(greet(shop.names[0].clone()), greet(names[0].clone()))?;
    Ok(greeted.into_iter().sum::<usize>() + first + second)
}

fn main() {
    let _ = process(vec!["a".to_owned()]);
}
