//! Two values, and where they differ, for people.
//!
//! Owns the drawing only.

use std::fmt::Debug;

/// Lines that are the same are shown up to this many around those that differ.
const AROUND: usize = 2;

/// The lines of both values from the first that differs to the last: `-` of `before`, `+` of `after`.
pub(super) fn difference(before: &impl Debug, after: &impl Debug) -> String {
    let (before, after) = (format!("{before:#?}"), format!("{after:#?}"));
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    let pairs = before.iter().zip(&after);
    let same_first = pairs.take_while(|(one, other)| one == other).count();
    let (before_rest, after_rest) = (&before[same_first..], &after[same_first..]);
    let pairs = before_rest.iter().rev().zip(after_rest.iter().rev());
    let same_last = pairs.take_while(|(one, other)| one == other).count();
    let show = |mark: &str, lines: &[&str]| -> Vec<String> {
        lines.iter().map(|line| format!("{mark} {line}")).collect()
    };
    let (before_end, after_end) = (before_rest.len() - same_last, after_rest.len() - same_last);
    let mut shown = show(" ", &before[same_first.saturating_sub(AROUND)..same_first]);
    shown.extend(show("-", &before_rest[..before_end]));
    shown.extend(show("+", &after_rest[..after_end]));
    let tail = &before_rest[before_end..];
    shown.extend(show(" ", &tail[..tail.len().min(AROUND)]));
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn what_differs_is_shown_with_a_little_around_it() {
        let shown = difference(&[1, 2, 3, 4, 5, 6, 7], &[1, 2, 3, 40, 41, 5, 6, 7]);
        assert_eq!(
            shown,
            "      2,\n      3,\n-     4,\n+     40,\n+     41,\n      5,\n      6,"
        );
    }

    #[test]
    fn values_of_one_line_stand_below_each_other() {
        assert_eq!(difference(&"a", &"b"), "- \"a\"\n+ \"b\"");
    }

    #[test]
    fn one_that_is_the_beginning_of_the_other_is_told_from_it() {
        assert_eq!(difference(&[1, 1], &[1]), "  [\n      1,\n-     1,\n  ]");
    }
}
