//! The documentation of the attributes names every option that they take, with its example.

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
