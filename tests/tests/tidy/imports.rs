//! Who may import whom. ARCHITECTURE.md draws it; this holds the house to it.

use super::report;
use super::source::{Source, name_at, rust, words};

/// The rooms of the runtime, and the rooms that each may look into.
///
/// A room that is not listed fails, so that a new one gets its place here and in ARCHITECTURE.md.
const ROOMS: [(&str, &[&str]); 16] = [
    ("ids", &[]),
    ("clock", &[]),
    ("codec", &[]),
    ("state", &[]),
    ("error", &["codec", "ids"]),
    // Of the clock both know `Timestamp`, which is a number.
    ("retry", &["clock", "error"]),
    ("history", &["clock", "codec", "error", "ids"]),
    ("store", &["clock", "codec", "history", "ids"]),
    // The descriptor of a body names what the body is given: `engine::Input`.
    (
        "descriptor",
        &["codec", "engine", "error", "retry", "state"],
    ),
    ("registry", &["descriptor", "state"]),
    (
        "engine",
        &[
            "clock",
            "codec",
            "descriptor",
            "error",
            "history",
            "ids",
            "registry",
            "retry",
            "state",
            "store",
        ],
    ),
    ("saga", &["engine", "error", "retry"]),
    (
        "execution",
        &[
            "clock", "codec", "engine", "error", "history", "ids", "store",
        ],
    ),
    (
        "skail",
        &[
            "clock",
            "codec",
            "descriptor",
            "engine",
            "error",
            "execution",
            "history",
            "ids",
            "registry",
            "retry",
            "state",
            "store",
        ],
    ),
    (
        "testing",
        &[
            "clock",
            "codec",
            "descriptor",
            "engine",
            "error",
            "execution",
            "history",
            "ids",
            "skail",
            "state",
            "store",
        ],
    ),
    (
        "__private",
        &["codec", "descriptor", "engine", "error", "retry", "state"],
    ),
];

/// Crates that only some places of the runtime may know.
const OUTSIDERS: [(&str, &[&str]); 6] = [
    // In `store/mod.rs` the word is the module.
    ("sled", &["store/sled/", "store/mod.rs"]),
    ("libc", &["store/sled/"]),
    (
        "tokio",
        &[
            "clock.rs",
            "engine/",
            "execution.rs",
            "skail",
            "store/",
            "testing/",
        ],
    ),
    ("fastrand", &["engine/", "skail/", "testing/order.rs"]),
    (
        "inventory",
        &["descriptor.rs", "registry.rs", "__private.rs"],
    ),
    ("rmp_serde", &["codec/", "history/format.rs"]),
];

/// The room that a file of the runtime belongs to, and how deep its module lies.
fn room(source: &Source) -> Option<(&str, usize)> {
    let path = source.path.strip_prefix("skail-runtime/src/")?;
    let path = path.strip_suffix(".rs").expect("it is a Rust file");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    let room = path.split('/').next()?;
    (room != "lib").then(|| (room, path.split('/').count()))
}

#[test]
fn imports_go_one_way() {
    let mut problems = Vec::new();
    for source in rust() {
        let Some((room, depth)) = room(&source) else {
            continue;
        };
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
            problems.push(format!(
                "{}: the room `{room}` is new: give it a line in `ROOMS` and in ARCHITECTURE.md",
                source.path
            ));
            continue;
        };
        let code = source.shipped();
        for (at, wanted) in from_the_root(&code, depth) {
            if wanted != room && !allowed.contains(&wanted.as_str()) {
                problems.push(format!(
                    "{}: `{room}` must not know `{wanted}`: move what both need to a room below, or \
                     pass it in",
                    source.place(at)
                ));
            }
        }
    }
    report("Rooms import in one direction.", &problems);
}

#[test]
fn outside_crates_stay_in_their_rooms() {
    let mut problems = Vec::new();
    for source in rust() {
        let Some(file) = source.path.strip_prefix("skail-runtime/src/") else {
            continue;
        };
        let code = source.shipped();
        for (outsider, allowed) in OUTSIDERS {
            let path = format!("{outsider}::");
            let used = words(&code, &path).find(|at| !is_inner_path(&code, *at));
            if let Some(at) = used.filter(|_| !allowed.iter().any(|room| file.starts_with(room))) {
                problems.push(format!(
                    "{}: the crate `{outsider}` is for {allowed:?} only",
                    source.place(at)
                ));
            }
        }
    }
    report(
        "A crate from outside is known to the rooms that need it.",
        &problems,
    );
}

/// `super::sled::…` is a module of ours.
fn is_inner_path(code: &str, at: usize) -> bool {
    let before = code[..at].trim_end();
    before.ends_with("super::") || before.ends_with("self::") || before.ends_with("crate::")
}

/// Every module that the code names from the crate's root: by `crate::`, or by enough `super::`.
fn from_the_root(code: &str, depth: usize) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for at in words(code, "crate::") {
        // `pub(in crate::…)` and `$crate` are no imports; neither is used.
        names_after(code, at + "crate::".len(), &mut found);
    }
    let up = "super::";
    for at in words(code, up) {
        if code[..at].ends_with(up) {
            continue;
        }
        let mut end = at;
        while code[end..].starts_with(up) {
            end += up.len();
        }
        if (end - at) / up.len() >= depth {
            let mut names = Vec::new();
            names_after(code, end, &mut names);
            // A type is no room: this is a module inside of a file, looking at its file.
            names.retain(|(_, name)| !name.starts_with(char::is_uppercase));
            found.extend(names);
        }
    }
    found
}

/// The name at `at`, or those at the top of the braces there.
fn names_after(code: &str, at: usize, found: &mut Vec<(usize, String)>) {
    if !code[at..].starts_with('{') {
        found.push((at, name_at(code, at).to_owned()));
        return;
    }
    let mut depth = 0;
    let mut expected = false;
    for (offset, c) in code[at..].char_indices() {
        match c {
            '{' => {
                depth += 1;
                expected = depth == 1;
            }
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return;
                }
            }
            ',' => expected = depth == 1,
            _ if expected && !c.is_whitespace() => {
                found.push((at + offset, name_at(code, at + offset).to_owned()));
                expected = false;
            }
            _ => {}
        }
    }
}

#[test]
fn names_from_the_root_are_found() {
    let code = "use crate::a::{x, y}; use crate::{b::{c, d}, e}; super::super::f::g; super::h;";
    let names: Vec<String> = from_the_root(code, 2)
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    assert_eq!(names, ["a", "b", "e", "f"]);
}
