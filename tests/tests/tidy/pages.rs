//! Rules about the pages: what they name exists, and what exists is named.

use super::manifests::{external_dependencies, manifests, packages};
use super::report;
use super::source::{Source, all, read, root, rust};

const PAGES: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"];

/// The lines of the fenced blocks of a page whose language is one of `languages`.
fn fenced<'a>(page: &'a str, languages: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut inside = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), inside) {
            (Some(_), Some(_)) => inside = None,
            (Some(language), None) => inside = Some(languages.contains(&language.trim())),
            (None, Some(true)) => found.push(line),
            (None, _) => {}
        }
    }
    found
}

/// What stands between backticks in the running text.
fn code_spans(page: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut fence = false;
    for line in page.lines() {
        if line.starts_with("```") {
            fence = !fence;
        } else if !fence {
            found.extend(line.split('`').skip(1).step_by(2));
        }
    }
    found
}

#[test]
fn every_dependency_earns_its_place() {
    let page = read("ARCHITECTURE.md");
    let used = external_dependencies();
    let section = page
        .split("\n## ")
        .find(|section| section.starts_with("Dependencies"))
        .expect("ARCHITECTURE.md has a section \"Dependencies\"");
    let named: Vec<&str> = section
        .lines()
        .filter_map(|line| {
            line.strip_prefix("| `")?
                .split_once('`')
                .map(|(name, _)| name)
        })
        .collect();
    let unnamed = used
        .iter()
        .filter(|name| !named.contains(&name.as_str()))
        .map(|name| format!("`{name}` has no line: add one, or do without it"));
    let unused = named
        .iter()
        .filter(|name| !used.iter().any(|used| used == *name))
        .map(|name| format!("`{name}` is used by no package any more: delete its line"));
    report(
        "ARCHITECTURE.md says of every crate from outside what it is here for.",
        &unnamed.chain(unused).collect::<Vec<_>>(),
    );
}

#[test]
fn commands_in_pages_can_be_typed() {
    let sources = rust();
    let mut problems = Vec::new();
    let mut count = 0;
    for page in ["README.md", "ARCHITECTURE.md"] {
        let text = read(page);
        for line in fenced(&text, &["sh"]) {
            let command = line.split(" #").next().unwrap_or_default().trim();
            if command.is_empty() {
                continue;
            }
            count += 1;
            if let Err(problem) = check_command(command, &sources) {
                problems.push(format!("{page}: `{command}`: {problem}"));
            }
        }
    }
    assert!(count >= 2, "README.md has its two commands in `sh` blocks");
    report("What a page tells to type exists.", &problems);
}

fn check_command(command: &str, sources: &[Source]) -> Result<(), String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words[..] {
        ["cargo", ..] => check_cargo(&words, sources),
        ["git" | "cd" | "kill" | "strace", ..] => Ok(()),
        [program, ..] if root().join(program).is_file() => Ok(()),
        _ => Err("there is no such program here".to_owned()),
    }
}

fn check_cargo(words: &[&str], sources: &[Source]) -> Result<(), String> {
    let split = words.iter().position(|word| *word == "--");
    let (own, passed) = words.split_at(split.unwrap_or(words.len()));
    let after = |flag: &str| {
        let at = own.iter().position(|word| *word == flag)?;
        own.get(at + 1).copied()
    };
    let manifests = manifests();
    let package = after("-p");
    let manifest = match package {
        None => None,
        Some(name) if packages().iter().any(|package| package == name) => manifests
            .iter()
            .find(|manifest| manifest.name() == Some(name)),
        Some(name) => return Err(format!("there is no package `{name}`")),
    };
    let folder = manifest.map_or("", |manifest| manifest.folder.as_str());
    let exists = |path: String| sources.iter().any(|source| source.path == path);
    if let Some(name) = after("--bin")
        && !exists(format!("{folder}/src/bin/{name}.rs"))
    {
        return Err(format!("there is no program `{name}`"));
    }
    if let Some(name) = after("--test") {
        let declared = manifest.is_some_and(|manifest| {
            manifest
                .section("test")
                .any(|(key, value)| key == "name" && value == name)
        });
        if !declared
            && !exists(format!("{folder}/tests/{name}.rs"))
            && !exists(format!("{folder}/tests/{name}/main.rs"))
        {
            return Err(format!("there is no test `{name}`"));
        }
    }
    // Options of a program are fields of its command line.
    if words.get(1) == Some(&"run") {
        for option in passed.iter().filter_map(|word| word.strip_prefix("--")) {
            let field = format!("{}:", option.replace('-', "_"));
            let known =
                |source: &Source| source.path.starts_with(folder) && source.code().contains(&field);
            if !option.is_empty() && !sources.iter().any(known) {
                return Err(format!("the program has no option `--{option}`"));
            }
        }
    }
    Ok(())
}

#[test]
fn files_that_pages_name_exist() {
    let files: Vec<String> = all().into_iter().map(|source| source.path).collect();
    let known = |name: &str| {
        let name = name.trim_start_matches("./");
        let inside = name.trim_end_matches('/');
        files.iter().any(|path| {
            path == inside
                || path.ends_with(&format!("/{inside}"))
                || path.starts_with(&format!("{inside}/"))
                || path.contains(&format!("/{inside}/"))
        })
    };
    let mut problems = Vec::new();
    for page in PAGES {
        let text = read(page);
        let looks_like_a_file = |span: &&str| {
            let file = [".rs", ".toml", ".md", ".csv", ".stderr"]
                .iter()
                .any(|end| span.ends_with(end))
                || (span.ends_with('/') && span.len() > 1);
            file && span
                .chars()
                .all(|c| c.is_alphanumeric() || "_-./".contains(c))
        };
        for span in code_spans(&text).into_iter().filter(looks_like_a_file) {
            if !known(span) {
                problems.push(format!("{page}: there is no file `{span}`"));
            }
        }
        for target in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let file = target.split('#').next().unwrap_or_default();
            if !file.is_empty() && !file.contains("://") && !root().join(file).exists() {
                problems.push(format!("{page}: the link to {target} leads nowhere"));
            }
        }
    }
    report("A page names files that are there.", &problems);
}

#[test]
fn every_room_is_on_the_map() {
    let page = read("ARCHITECTURE.md");
    let spans = code_spans(&page);
    let mut rooms: Vec<String> = rust()
        .iter()
        .filter_map(|source| {
            let path = source.path.strip_prefix("skail-runtime/src/")?;
            // A folder is one room; its files are its own affair.
            Some(match path.rsplit_once('/') {
                Some((folder, _)) => format!("{folder}/"),
                None => path.to_owned(),
            })
        })
        .collect();
    rooms.dedup();
    let problems: Vec<String> = rooms
        .iter()
        .filter(|room| !spans.contains(&room.as_str()))
        .map(|room| format!("skail-runtime/src/{room}: give it a place on the code map"))
        .collect();
    report(
        "ARCHITECTURE.md names every room of the runtime.",
        &problems,
    );
}

#[test]
fn the_readme_begins_with_the_two_commands() {
    let text = read("README.md");
    let commands = fenced(&text, &["sh"]);
    let commands: Vec<&str> = commands
        .iter()
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty())
        .take(2)
        .collect();
    assert_eq!(
        commands,
        ["cargo run -p skail-examples --bin order_saga", "./test"],
        "README.md's first command runs the main example, its second all tests"
    );
    let run = read(".ci/run");
    assert!(
        run.contains("/../test\""),
        ".ci/run calls the one test command"
    );
}

#[test]
fn the_changelog_has_a_place_for_what_comes_next() {
    let text = read("CHANGELOG.md");
    assert!(
        text.lines().any(|line| line == "## [Unreleased]"),
        "CHANGELOG.md: keep a section `## [Unreleased]` at its top"
    );
}

#[test]
fn the_stated_compiler_is_the_promised_one() {
    let manifests = manifests();
    let version = manifests[0].value("workspace.package", "rust-version");
    let version = version.expect("the workspace states one");
    assert!(
        read("README.md").contains(&format!("Rust {version}")),
        "README.md: say that Skail needs Rust {version}, as Cargo.toml does"
    );
}
