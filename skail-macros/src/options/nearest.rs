//! The word that somebody who slipped most likely meant.

/// The nearest of `words`, if any is near enough to be a slip of the finger.
pub(crate) fn nearest<'a>(slip: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    words
        .map(|word| (distance(slip, word), word))
        .filter(|&(distance, word)| distance <= word.len().div_ceil(4))
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, word)| word)
}

/// Levenshtein's distance: how many letters must be put in, taken out or changed.
fn distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.chars().count()).collect();
    for (above, l) in left.chars().enumerate() {
        let mut diagonal = above;
        let mut previous = above + 1;
        if let Some(first) = row.first_mut() {
            *first = previous;
        }
        for (cell, r) in row.iter_mut().skip(1).zip(right.chars()) {
            let change = diagonal + usize::from(l != r);
            diagonal = *cell;
            *cell = change.min(diagonal + 1).min(previous + 1);
            previous = *cell;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_counts_single_letters() {
        assert_eq!(distance("", ""), 0);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("timeuot", "timeout"), 2);
    }

    #[test]
    fn a_word_too_far_away_is_no_slip() {
        let words = || ["full", "equal", "decorrelated", "none"].into_iter();
        assert_eq!(nearest("ful", words()), Some("full"));
        assert_eq!(nearest("decorelated", words()), Some("decorrelated"));
        assert_eq!(nearest("random", words()), None);
    }
}
