//! Paths in a stream of tokens: `a::b::c`, and those of a `use a::{b, c}`.
//!
//! Owns telling a path from a method or a field. Must never judge one.

use std::iter::Peekable;

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, Group, Ident, Spacing, TokenStream, TokenTree};

/// A path and what follows it.
pub(super) struct Found {
    pub(super) segments: Vec<Ident>,
    /// The delimited arguments of a macro call.
    pub(super) bang: Option<Group>,
    /// Whether it stands in the arguments of a `record(…)`.
    pub(super) recorded: bool,
}

impl Found {
    /// The path as a person writes it.
    pub(super) fn text(&self) -> String {
        let words: Vec<String> = self.segments.iter().map(Ident::to_string).collect();
        words.join("::")
    }

    /// Whether the path ends in these segments.
    pub(super) fn ends(&self, words: &[&str]) -> bool {
        self.segments.len() >= words.len()
            && self
                .segments
                .iter()
                .rev()
                .zip(words.iter().rev())
                .all(|(s, w)| s == w)
    }

    /// Whether the path begins with this segment and goes on.
    pub(super) fn goes_into(&self, word: &str) -> bool {
        self.segments.len() > 1 && self.segments.first().is_some_and(|first| first == word)
    }

    /// Whether this segment is somewhere in the path and the path goes on after it.
    pub(super) fn goes_through(&self, word: &str) -> bool {
        self.segments
            .iter()
            .rev()
            .skip(1)
            .any(|segment| segment == word)
    }

    /// The last segment.
    pub(super) fn last(&self) -> String {
        self.segments
            .last()
            .map(Ident::to_string)
            .unwrap_or_default()
    }

    /// What a fault is shown on.
    pub(super) fn tokens(&self) -> TokenStream {
        self.segments
            .iter()
            .cloned()
            .map(TokenTree::Ident)
            .collect()
    }
}

/// Calls `visit` with each path, at any depth.
pub(super) fn visit(tokens: TokenStream, found: &mut impl FnMut(&Found)) {
    walk(tokens, Place::default(), found);
}

/// Where tokens stand.
#[derive(Clone, Copy, Default)]
struct Place<'a> {
    /// The path before the braces of a `use`.
    prefix: &'a [Ident],
    recorded: bool,
}

fn walk(tokens: TokenStream, place: Place<'_>, found: &mut impl FnMut(&Found)) {
    let mut tokens = tokens.into_iter().peekable();
    // The punctuation just before: `.` makes a method or field of a word, `'` a lifetime.
    let mut before = [' ', ' '];
    while let Some(token) = tokens.next() {
        let mut now = ' ';
        match token {
            TokenTree::Group(group) => walk(group.stream(), place, found),
            TokenTree::Punct(punct) => now = punct.as_char(),
            TokenTree::Literal(_) => {}
            TokenTree::Ident(word) => {
                let is_member = before == [' ', '.'];
                if is_member || before.ends_with(&['\'']) {
                    before = [' ', ' '];
                    continue;
                }
                path(word, place, &mut tokens, found);
            }
        }
        let [_, last] = before;
        before = [last, now];
    }
}

fn path(
    first: Ident,
    place: Place<'_>,
    tokens: &mut Peekable<IntoIter>,
    found: &mut impl FnMut(&Found),
) {
    let mut segments = place.prefix.to_vec();
    segments.push(first);
    while separator(tokens) {
        match tokens.peek() {
            Some(TokenTree::Ident(word)) => {
                segments.push(word.clone());
                tokens.next();
            }
            Some(TokenTree::Group(tree)) if tree.delimiter() == Delimiter::Brace => {
                let tree = tree.stream();
                tokens.next();
                let place = Place {
                    prefix: &segments,
                    ..place
                };
                return walk(tree, place, found);
            }
            _ => break,
        }
    }
    let bang = bang(tokens);
    if let Some(arguments) = &bang {
        walk(arguments.stream(), place, found);
    }
    if segments.last().is_some_and(|last| last == "record")
        && let Some(TokenTree::Group(arguments)) = tokens.next_if(is_arguments)
    {
        let place = Place {
            recorded: true,
            ..place
        };
        walk(arguments.stream(), place, found);
    }
    found(&Found {
        segments,
        bang,
        recorded: place.recorded,
    });
}

fn is_arguments(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis)
}

/// Takes a `::`.
fn separator(tokens: &mut Peekable<IntoIter>) -> bool {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ':');
    let joint = tokens.next_if(
        |token| matches!(token, TokenTree::Punct(p) if p.as_char() == ':' && p.spacing() == Spacing::Joint),
    );
    joint.is_some() && tokens.next_if(is_colon).is_some()
}

/// Takes the `!(…)` of a macro call.
fn bang(tokens: &mut Peekable<IntoIter>) -> Option<Group> {
    let is_bang = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == '!' && p.spacing() == Spacing::Alone);
    tokens.next_if(is_bang)?;
    match tokens.next_if(|token| matches!(token, TokenTree::Group(_))) {
        Some(TokenTree::Group(arguments)) => Some(arguments),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(code: &str) -> Vec<String> {
        let mut all = Vec::new();
        let tokens = code.parse().expect("it lexes");
        visit(tokens, &mut |found| all.push(found.text()));
        all
    }

    #[test]
    fn paths_are_whole_at_any_depth() {
        assert_eq!(paths("a::b(c::d::e)"), ["a::b", "c::d::e"]);
        assert_eq!(paths("join!(x::y(), z)"), ["x::y", "z", "join"]);
        assert_eq!(paths("let t: a::T = ::b::c;"), ["let", "t", "a::T", "b::c"]);
    }

    #[test]
    fn members_and_lifetimes_are_no_paths() {
        assert_eq!(paths("a.now().b"), ["a"]);
        assert_eq!(paths("0..a::b"), ["a::b"]);
        assert_eq!(paths("'now: loop {}"), ["loop"]);
    }

    #[test]
    fn a_use_tree_is_taken_apart() {
        assert_eq!(
            paths("use a::{b, c::{d, e as f}};"),
            ["use", "a::b", "a::c::d", "a::c::e", "a::c::as", "a::c::f"]
        );
    }
}
