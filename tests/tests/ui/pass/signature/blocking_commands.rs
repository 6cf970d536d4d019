//! A plain `fn` that may block its thread, and may hold what is not `Send`.
#![deny(warnings)]

use std::rc::Rc;

use skail_runtime::{skail_command, skail_function};

pub struct Folder(String);

#[skail_command(blocking, idempotency_key = "{name}")]
fn write(#[state] folder: &Folder, name: String, bytes: Vec<u8>) -> std::io::Result<usize> {
    let shared = Rc::new(bytes);
    let _ = (&folder.0, name);
    Ok(shared.len())
}

#[skail_function]
async fn process() -> anyhow::Result<usize> {
    Ok(write("a".to_owned(), vec![1]).await?)
}

fn main() -> std::io::Result<()> {
    assert_eq!(
        write::body(&Folder(String::new()), String::new(), vec![1])?,
        1
    );
    let _ = process();
    Ok(())
}
