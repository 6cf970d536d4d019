//! Rules about files: their length, their first words, that none is forgotten.

use std::collections::BTreeSet;

use super::manifests::{Manifest, manifests};
use super::report;
use super::source::{Source, name_at, root, rust, words};

/// The most lines of code in a file, comments and empty lines not counted.
const MOST_CODE: usize = 400;

/// The most lines in a file.
const MOST_LINES: usize = 500;

#[test]
fn no_file_is_too_long_to_be_read_at_once() {
    let mut problems = Vec::new();
    for source in rust() {
        let lines = source.text.lines().count();
        let code = source.code();
        let code = code.lines().filter(|line| !line.trim().is_empty()).count();
        if code > MOST_CODE || lines > MOST_LINES {
            problems.push(format!(
                "{}: {lines} lines, {code} of them code: split it by what its parts own",
                source.path
            ));
        }
    }
    let rule = format!("A file has at most {MOST_CODE} lines of code and {MOST_LINES} in all.");
    report(&rule, &problems);
}

#[test]
fn every_file_begins_with_what_it_owns() {
    let problems: Vec<String> = rust()
        .iter()
        .filter(|source| !source.text.starts_with("//! "))
        .filter(|source| !is_generated(source))
        .map(|source| {
            format!(
                "{}: begin it with `//!` and a sentence that says what it owns",
                source.path
            )
        })
        .collect();
    report(
        "The first line of a file says what the file is for.",
        &problems,
    );
}

/// Expected output of the macros, compared byte by byte.
fn is_generated(source: &Source) -> bool {
    source.path.contains("/golden/")
}

#[test]
fn no_file_is_forgotten() {
    let sources = rust();
    let mut reached: BTreeSet<String> = BTreeSet::new();
    let mut next: Vec<(String, bool)> = Vec::new();
    for manifest in manifests() {
        let targets = targets(&manifest, &sources);
        next.extend(targets.into_iter().map(|path| (path, true)));
    }
    while let Some((path, is_root)) = next.pop() {
        let Some(source) = sources.iter().find(|source| source.path == path) else {
            continue;
        };
        if reached.insert(path.clone()) {
            next.extend(
                modules(source, is_root)
                    .into_iter()
                    .map(|path| (path, false)),
            );
        }
    }
    let patterns: Vec<String> = sources
        .iter()
        .filter(|source| reached.contains(&source.path))
        .flat_map(read_by)
        .collect();
    let problems: Vec<String> = sources
        .iter()
        .map(|source| &source.path)
        .filter(|path| !reached.contains(*path))
        .filter(|path| !patterns.iter().any(|folder| path.starts_with(folder)))
        .map(|path| {
            format!("{path}: no `mod`, no target and no test reads it: name it, or delete it")
        })
        .collect();
    report("Every Rust file is compiled.", &problems);
}

/// The files that cargo compiles by themselves.
fn targets(manifest: &Manifest, sources: &[Source]) -> Vec<String> {
    let prefix = if manifest.folder.is_empty() {
        String::new()
    } else {
        format!("{}/", manifest.folder)
    };
    let mut found: Vec<String> = ["src/lib.rs", "src/main.rs", "build.rs"]
        .map(|path| format!("{prefix}{path}"))
        .to_vec();
    for section in ["lib", "bin", "test", "example", "bench"] {
        let paths = manifest.section(section).filter(|(key, _)| key == "path");
        found.extend(paths.map(|(_, path)| format!("{prefix}{path}")));
    }
    for (folder, switch) in [
        ("src/bin", "autobins"),
        ("tests", "autotests"),
        ("examples", "autoexamples"),
        ("benches", "autobenches"),
    ] {
        if manifest.value("package", switch) == Some("false") {
            continue;
        }
        let folder = format!("{prefix}{folder}/");
        let inside = sources.iter().filter_map(|source| {
            let rest = source.path.strip_prefix(&folder)?;
            let alone = !rest.contains('/');
            let main = rest.matches('/').count() == 1 && rest.ends_with("/main.rs");
            (alone || main).then(|| source.path.clone())
        });
        found.extend(inside);
    }
    found
}

/// The files that the `mod name;` of this one lead to.
fn modules(source: &Source, is_root: bool) -> Vec<String> {
    let (folder, file) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let folder = if is_root || file == "mod.rs" {
        folder.to_owned()
    } else {
        format!("{folder}/{}", file.trim_end_matches(".rs"))
    };
    let code = source.code();
    words(&code, "mod")
        .filter_map(|at| {
            let name = code.get(at + 4..)?;
            let name = name_at(name, 0);
            let after = code.get(at + 4 + name.len()..)?;
            (!name.is_empty() && after.starts_with(';')).then(|| name.to_owned())
        })
        .flat_map(|name| {
            [
                format!("{folder}/{name}.rs"),
                format!("{folder}/{name}/mod.rs"),
            ]
        })
        .collect()
}

/// The folders that a test reads for itself: a string names one of the package, or files in it with `*`.
fn read_by(source: &Source) -> Vec<String> {
    let package = source.path.split("/src/").next().unwrap_or_default();
    let package = package.split("/tests/").next().unwrap_or_default();
    let strings = source.text.split('"').skip(1).step_by(2);
    strings
        .filter_map(|string| string.split('*').next())
        .map(|folder| folder.trim_matches('/'))
        .filter(|folder| !["", "src", "tests"].contains(folder) && !folder.contains(".."))
        .map(|folder| format!("{package}/{folder}"))
        .filter(|folder| root().join(folder).is_dir())
        .map(|folder| format!("{folder}/"))
        .collect()
}
