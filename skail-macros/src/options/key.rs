//! `idempotency_key = "charge-{invoice_id}"`.
//!
//! Owns the placeholders of the text. Whether they are parameters is a rule of the whole item. Must
//! never format: the expansion hands the text to `format!` as it is.

use syn::LitStr;

/// A business key, with its placeholders in order of appearance, each once.
#[derive(Clone)]
pub(crate) struct IdempotencyKey {
    pub(crate) text: LitStr,
    pub(crate) placeholders: Vec<String>,
}

/// Reads the placeholders.
///
/// # Errors
/// Where the text is no key: damaged braces, no placeholder at all, or one that is more than a name.
pub(super) fn parse(text: LitStr) -> syn::Result<IdempotencyKey> {
    match placeholders(&text.value()) {
        Ok(placeholders) if placeholders.is_empty() => Err(syn::Error::new_spanned(
            text,
            "this idempotency key is the same for every call, so only the first would have an \
             effect: put a parameter in it, like `\"charge-{invoice_id}\"`, or leave the option out",
        )),
        Ok(placeholders) => Ok(IdempotencyKey { text, placeholders }),
        Err(reason) => Err(syn::Error::new_spanned(text, reason)),
    }
}

fn placeholders(text: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = cut(rest, '{') {
        closing_braces(before)?;
        if let Some(after) = after.strip_prefix('{') {
            rest = after;
            continue;
        }
        let (inner, after) = cut(after, '}').ok_or_else(|| {
            "a `{` of this idempotency key is never closed: write `{parameter}`, or `{{` for the \
             character itself"
                .to_owned()
        })?;
        let name = placeholder(inner)?;
        if !found.contains(&name) {
            found.push(name);
        }
        rest = after;
    }
    closing_braces(rest)?;
    Ok(found)
}

fn cut(text: &str, at: char) -> Option<(&str, &str)> {
    text.split_once(at)
}

/// In plain text a `}` is written twice.
fn closing_braces(plain: &str) -> Result<(), String> {
    if plain.replace("}}", "").contains('}') {
        return Err(
            "a `}` of this idempotency key closes nothing: write `}}` for the character itself"
                .to_owned(),
        );
    }
    Ok(())
}

fn placeholder(inner: &str) -> Result<String, String> {
    let name = inner.split_once(':').map_or(inner, |(name, _)| name).trim();
    let is_word = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if name.is_empty() || name.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!(
            "the placeholder `{{{inner}}}` names no parameter: write its name, like `{{invoice_id}}`"
        ));
    }
    if !is_word || inner.contains('$') || inner.contains("::") {
        return Err(format!(
            "the placeholder `{{{inner}}}` is more than the name of a parameter: pass the value as \
             a parameter of its own"
        ));
    }
    if let Some((_, format)) = inner.split_once(':')
        && format
            .trim_end()
            .ends_with(|c: char| c == '?' || c.is_alphabetic())
    {
        return Err(format!(
            "the placeholder `{{{inner}}}` asks for another form than `Display`, and a key must not \
             change with it: write `{{{name}}}`"
        ));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found_once_each() {
        let found = |text| placeholders(text).expect("it is a key");
        assert_eq!(found("charge-{id}-{day:>08}-{id}"), ["id", "day"]);
        assert_eq!(found("{{literal}}-{id}"), ["id"]);
        assert_eq!(found("{{{id}}}"), ["id"]);
        assert!(found("plain").is_empty());
    }

    #[test]
    fn damaged_placeholders_are_refused_in_words() {
        for (text, word) in [
            ("{id", "never closed"),
            ("id}", "closes nothing"),
            ("{}", "names no parameter"),
            ("{0}", "names no parameter"),
            ("{order.id}", "more than the name"),
            ("{id:width$}", "more than the name"),
            ("{self::id}", "more than the name"),
            ("{id:?}", "another form"),
            ("{id:#x}", "another form"),
        ] {
            let message = placeholders(text).expect_err(text);
            assert!(message.contains(word), "{text:?}: {message}");
        }
    }
}
