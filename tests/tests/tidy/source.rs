//! The repository's files, and their code without comments, strings and tests.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold no source: what is built, and what runs leave behind.
const SKIPPED: [&str; 5] = [".git", "target", "wip", "skail-data", "order-saga-data"];

/// One file, by its path from the repository's root with `/` in it.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("the package is in it").to_owned()
}

/// Every text file.
pub(crate) fn all() -> Vec<Source> {
    let root = root();
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder can be read") {
            let path = entry.expect("an entry can be read").path();
            let name = path.file_name().expect("it has a name").to_string_lossy();
            if SKIPPED.contains(&name.as_ref()) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                let path = path.strip_prefix(&root).expect("it is inside");
                let path = path.to_string_lossy().replace('\\', "/");
                found.push(Source { path, text });
            }
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

/// Every Rust file.
pub(crate) fn rust() -> Vec<Source> {
    let mut sources = all();
    sources.retain(|source| source.path.ends_with(".rs"));
    sources
}

/// One file that has to be there.
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

impl Source {
    /// The code: comments and strings blanked, lines kept.
    pub(crate) fn code(&self) -> String {
        blank(&self.text)
    }

    /// The code that is shipped: without its test modules. Empty for a file of tests.
    pub(crate) fn shipped(&self) -> String {
        let is_test = |part: &str| ["tests", "tests.rs", "conformance"].contains(&part);
        if self.path.split('/').any(is_test) {
            return String::new();
        }
        without_tests(&self.code())
    }

    /// Whether it is a source file of this package.
    pub(crate) fn is_of(&self, package: &str) -> bool {
        let rest = self.path.strip_prefix(package);
        rest.is_some_and(|rest| rest.starts_with("/src/"))
    }

    /// `path:line` of a byte in the text or the code.
    pub(crate) fn place(&self, at: usize) -> String {
        let line = self.text[..at].matches('\n').count() + 1;
        format!("{}:{line}", self.path)
    }
}

/// Every place where `word` stands in `code` as a whole word.
pub(crate) fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).filter_map(move |(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        let runs_on = |next: Option<char>, own: bool| own && next.is_some_and(part_of_name);
        let goes_back = runs_on(before, word.starts_with(part_of_name));
        let goes_on = runs_on(after, word.ends_with(part_of_name));
        (!goes_back && !goes_on).then_some(at)
    })
}

/// The name that begins at `at`, if one does.
pub(crate) fn name_at(code: &str, at: usize) -> &str {
    let rest = &code[at..];
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    &rest[..end.unwrap_or(rest.len())]
}

/// Where the braces that open at `open` close.
pub(crate) fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    code.len()
}

fn without_tests(code: &str) -> String {
    let mut code = code.to_owned();
    while let Some(at) = code.find("#[cfg(test)]") {
        let item = &code[at..];
        let end = match (item.find('{'), item.find(';')) {
            (Some(open), semicolon) if semicolon.is_none_or(|semicolon| open < semicolon) => {
                closing(&code, at + open)
            }
            (_, Some(semicolon)) => at + semicolon,
            (_, None) => code.len() - 1,
        };
        blank_out(&mut code, at, end + 1);
    }
    code
}

fn blank_out(code: &mut String, from: usize, to: usize) {
    let blanked: String = code[from..to].bytes().map(blanked_byte).collect();
    code.replace_range(from..to, &blanked);
}

fn blanked_byte(byte: u8) -> char {
    if byte == b'\n' { '\n' } else { ' ' }
}

/// Blanks comments, strings and characters, byte for byte, so that places stay what they are.
fn blank(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => {
                text[at..].find('\n').map_or(bytes.len(), |end| at + end)
            }
            b'/' if bytes[at..].starts_with(b"/*") => comment_end(bytes, at),
            b'"' => string_end(bytes, at),
            b'r' if !ends_in_name(&code) => raw_string_end(text, at).unwrap_or(at),
            b'\'' => character_end(text, at),
            _ => at,
        };
        if end > at {
            code.extend(bytes[at..end].iter().copied().map(blanked_byte));
            at = end;
        } else {
            let c = text[at..].chars().next().expect("it is inside");
            code.push(c);
            at += c.len_utf8();
        }
    }
    code
}

fn ends_in_name(code: &str) -> bool {
    // `br"…"` is a raw string too.
    let code = code.strip_suffix('b').unwrap_or(code);
    let last = code.chars().next_back();
    last.is_some_and(|c| c.is_alphanumeric() || c == '_')
}

fn comment_end(bytes: &[u8], from: usize) -> usize {
    let mut depth = 0;
    let mut at = from;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn raw_string_end(text: &str, from: usize) -> Option<usize> {
    let rest = &text[from + 1..];
    let hashes = rest.bytes().take_while(|byte| *byte == b'#').count();
    if !rest[hashes..].starts_with('"') {
        return None;
    }
    let close = format!("\"{}", "#".repeat(hashes));
    let inside = from + 1 + hashes + 1;
    let end = text[inside..].find(&close)?;
    Some(inside + end + close.len())
}

/// A lifetime is no character and stays.
fn character_end(text: &str, from: usize) -> usize {
    let mut rest = text[from + 1..].char_indices();
    match rest.next() {
        Some((_, '\\')) => {
            let skipped = from + 3;
            let end = text.get(skipped..).and_then(|rest| rest.find('\''));
            end.map_or(from, |end| skipped + end + 1)
        }
        Some(_) => match rest.next() {
            Some((at, '\'')) => from + 1 + at + 1,
            _ => from,
        },
        None => from,
    }
}

#[test]
fn comments_strings_and_characters_are_no_code() {
    let text = r##"a /* b /* c */ d */ e // f
g "h \" i" r#"j " k"# 'l' '\'' '\u{6d}' &'m n br"o" bar"##;
    let code = blank(text);
    assert_eq!(code.len(), text.len());
    let left: Vec<&str> = code.split_whitespace().collect();
    assert_eq!(left, ["a", "e", "g", "&'m", "n", "b", "bar"]);
}

#[test]
fn test_modules_are_not_shipped() {
    let code = "a #[cfg(test)] mod tests { b { c } } d #[cfg(test)] mod e; f";
    let left: Vec<String> = without_tests(code)
        .split_whitespace()
        .map(ToOwned::to_owned)
        .collect();
    assert_eq!(left, ["a", "d", "f"]);
}
