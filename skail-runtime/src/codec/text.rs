//! Texts that go into records and messages are bounded: one of megabytes must not become a failure of its
//! own.

/// At most `limit` bytes of a text, cut at a character, and a marker where something is missing.
pub(crate) fn shorten(mut text: String, limit: usize) -> String {
    let size = text.len();
    if size > limit {
        text.truncate(text.floor_char_boundary(limit));
        text.push_str(&format!("… (cut, {size} bytes)"));
    }
    text
}
