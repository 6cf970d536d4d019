//! What holds for the text of this crate: the documentation names every option that the attributes take,
//! with its example, and only `lib.rs` knows the compiler.

use std::fs;
use std::path::Path;

use crate::kind::Kind;
use crate::options::{ROWS, Standing};

#[test]
fn every_option_is_documented() {
    for kind in [Kind::Command, Kind::Function] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../skail-runtime/src/docs")
            .join(format!("{}.md", kind.attribute()));
        let text = fs::read_to_string(&file).expect("the documentation is there");
        for row in &ROWS {
            let cell = format!("| `{}` |", row.example);
            let taken = row.standing(kind) == Standing::Taken;
            assert_eq!(text.contains(&cell), taken, "{}: {cell}", file.display());
        }
    }
}

/// All else takes and gives `proc_macro2`, so that it runs in tests.
#[test]
fn only_lib_knows_the_compiler() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let word = concat!("proc_", "macro::");
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the sources are there") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("src/lib.rs") {
                let text = fs::read_to_string(&path).expect("a source can be read");
                assert!(!text.contains(word), "{}", path.display());
            }
        }
    }
}
