//! What users of the attributes read: `ui/pass` compiles, `ui/fail` is refused in these words.
//!
//! `TRYBUILD=overwrite cargo test -p skail-tests --test ui` writes down what the compiler says now.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The fixtures whose messages are rustc's own words.
const OF_RUSTC: &str = "rustc";

/// Set in the process that only writes down what its compiler says: where to.
const WRITE_TO: &str = "SKAIL_UI_WRITE_TO";

#[test]
fn what_users_read() {
    if let Some(folder) = env::var_os(WRITE_TO) {
        let cases = trybuild::TestCases::new();
        cases.compile_fail(Path::new(&folder).join("*/*.rs"));
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*/*.rs");
    if is_known_compiler() {
        cases.compile_fail("tests/ui/fail/*/*.rs");
    } else {
        our_own_sentences_are_said();
    }
}

/// Whether this is the compiler that the expected output was written by. Others are free to put the same
/// thing into other words.
fn is_known_compiler() -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .arg("--version")
        .output()
        .expect("rustc runs");
    let version = String::from_utf8_lossy(&output.stdout);
    let known = env::var("SKAIL_UI_COMPILER");
    let known = known.as_deref().unwrap_or(include_str!("ui/COMPILER"));
    version.split_whitespace().nth(1) == Some(known.trim())
}

/// On any other compiler each fixture must fail too, and with the sentences that are ours.
fn our_own_sentences_are_said() {
    let folder = tempfile::tempdir().expect("there is room for the fixtures");
    let fixtures = copy_fixtures(folder.path());
    let status = Command::new(env::current_exe().expect("this test is a program"))
        .args(["what_users_read", "--exact"])
        .env(WRITE_TO, folder.path())
        .env("TRYBUILD", "overwrite")
        .status()
        .expect("this test can be run again");
    assert!(status.success(), "a fixture compiled that must not");
    for (expected, copy) in fixtures {
        let said = fs::read_to_string(copy).expect("the compiler said something");
        let expected = fs::read_to_string(&expected).expect("each fixture has its expected output");
        for sentence in sentences(&expected) {
            assert!(
                said.contains(sentence),
                "not said: {sentence}\nbut:\n{said}"
            );
        }
    }
}

/// Copies the fixtures; gives the expected output of those with our sentences and where its like will be.
fn copy_fixtures(folder: &Path) -> Vec<(PathBuf, PathBuf)> {
    let topics = fs::read_dir("tests/ui/fail").expect("the fixtures are there");
    let mut outputs = Vec::new();
    for topic in topics {
        let topic = topic.expect("the folder can be read");
        let copy = folder.join(topic.file_name());
        fs::create_dir(&copy).expect("a folder can be made");
        for file in fs::read_dir(topic.path()).expect("a topic is a folder") {
            let file = file.expect("the folder can be read");
            let target = copy.join(file.file_name());
            if target.extension().is_some_and(|end| end == "rs") {
                fs::copy(file.path(), target).expect("a fixture can be copied");
            } else if topic.file_name() != OF_RUSTC {
                outputs.push((file.path(), target));
            }
        }
    }
    outputs
}

/// The first line of each error, without `error[E0277]: `.
fn sentences(expected: &str) -> impl Iterator<Item = &str> {
    let errors = expected.lines().filter(|line| line.starts_with("error"));
    errors.filter_map(|line| line.split_once(": ").map(|(_, sentence)| sentence))
}
