//! One file per shape of expansion: the code on top, what it becomes below.
//!
//! `UPDATE_GOLDEN=1 cargo test -p skail-macros` writes what is; read the difference before you keep it.

use std::fs;
use std::path::{Path, PathBuf};

use super::expand;

const MARK: &str = "\n// becomes\n\n";

/// More lines than this, attributes not counted, are a sign that logic has crept into the expansion.
const MOST_LINES: usize = 110;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the golden files are there")
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    files.sort();
    files
}

/// The code on top of each golden file.
pub(super) fn inputs() -> Vec<(String, String)> {
    files()
        .iter()
        .map(|file| {
            let text = fs::read_to_string(file).expect("a golden file can be read");
            let input = text.split(MARK).next().unwrap_or_default().to_owned();
            (file.display().to_string(), input)
        })
        .collect()
}

#[test]
fn each_shape_is_as_it_was() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut differing = Vec::new();
    for (file, input) in inputs() {
        let tokens = expand(&input);
        let parsed = syn::parse2(tokens).expect("what the attribute writes is items");
        let output = prettyplease::unparse(&parsed);
        let is_code = |line: &&str| !line.trim_start().starts_with(['#', '/']);
        let lines = output.lines().filter(is_code).count();
        assert!(lines <= MOST_LINES, "{file} has {lines} lines:\n{output}");
        let now = format!(
            "{}{MARK}{output}",
            input.trim_end_matches('\n').to_owned() + "\n"
        );
        if update {
            fs::write(&file, &now).expect("a golden file can be written");
        } else if fs::read_to_string(&file).expect("a golden file can be read") != now {
            differing.push(format!("{file} should be:\n{now}"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n\n"));
}
