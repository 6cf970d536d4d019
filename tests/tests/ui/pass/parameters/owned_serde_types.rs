//! `mut`, and any owned type that serde knows.
#![deny(warnings)]

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use skail_runtime::{skail_command, skail_function};

#[derive(Serialize, Deserialize)]
pub struct Line<T> {
    article: String,
    price: T,
}

#[skail_command]
#[allow(clippy::too_many_arguments)]
async fn check(
    mut lines: Vec<Line<i128>>,
    by_name: HashMap<String, Option<[u8; 4]>>,
    sorted: (BTreeMap<u8, char>, BTreeSet<String>),
    text: Cow<'static, str>,
    boxed: Box<[f64]>,
    unit: (),
    id: uuid::Uuid,
) -> anyhow::Result<Line<(u8, Box<str>)>> {
    lines.clear();
    let _ = (by_name, sorted, text, boxed, unit, id);
    Ok(Line {
        article: String::new(),
        price: (1, "".into()),
    })
}

#[skail_function]
async fn process(mut lines: Vec<Line<i128>>) -> anyhow::Result<String> {
    lines.clear();
    let call = check(
        lines,
        HashMap::new(),
        Default::default(),
        "text".into(),
        [1.0].into(),
        (),
        uuid::Uuid::nil(),
    );
    Ok(call.await?.article)
}

fn main() {
    let _ = process(Vec::new());
}
