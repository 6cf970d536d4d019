//! What to look for, as it stands in a link: of the API and of the page alike.
//!
//! Owns both directions, and the bounds. Must never look for anything.

use serde::Deserialize;
use skail_runtime::clock::Timestamp;
use skail_runtime::history::Status;
use skail_runtime::store::Search;
use utoipa::IntoParams;

use crate::time;

/// How many executions a page has unless the request says.
const USUAL_LIMIT: usize = 50;

/// The most executions of a page.
pub(crate) const MOST_LIMIT: usize = 500;

/// The most bytes of a text to look for.
const MOST_TEXT: usize = 1_000;

/// The statuses, by the words that links use.
pub(crate) const STATUSES: [(&str, Status); 4] = [
    ("running", Status::Running),
    ("blocked", Status::Blocked),
    ("failed", Status::Failed),
    ("completed", Status::Completed),
];

/// What to look for: everything that is given has to hold. Empty ones are as if not given.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// `running`, `blocked`, `failed` or `completed`.
    pub(crate) status: Option<String>,
    /// The recorded name of a function.
    pub(crate) function: Option<String>,
    /// The beginning of the id. What is found is then in the order of the ids.
    pub(crate) prefix: Option<String>,
    /// Started at this time or later: milliseconds since 1970, or as `2026-12-07T09:55` in UTC.
    pub(crate) started_from: Option<String>,
    /// Started before this time: milliseconds since 1970, or as `2026-12-07T09:55` in UTC.
    pub(crate) started_before: Option<String>,
    /// A tag with its value, as `name:value`.
    pub(crate) tag: Option<String>,
    /// Words in the error, the id, or the value of a tag, in any case.
    pub(crate) text: Option<String>,
    /// The `next` of the page before.
    pub(crate) after: Option<String>,
    /// How many at most: 1 to 500, 50 unless given.
    pub(crate) limit: Option<String>,
}

impl Wanted {
    /// From the parameters of a link that has others as well, which are left out.
    pub(crate) fn of_pairs(pairs: Vec<(String, String)>) -> Self {
        let mut wanted = Self::default();
        for (name, value) in pairs {
            let field = match name.as_str() {
                "status" => &mut wanted.status,
                "function" => &mut wanted.function,
                "prefix" => &mut wanted.prefix,
                "started_from" => &mut wanted.started_from,
                "started_before" => &mut wanted.started_before,
                "tag" => &mut wanted.tag,
                "text" => &mut wanted.text,
                "after" => &mut wanted.after,
                "limit" => &mut wanted.limit,
                _ => continue,
            };
            *field = Some(value);
        }
        wanted
    }

    /// # Errors
    /// A sentence that says which parameter is wrong, and what it may be.
    pub(crate) fn search(&self) -> Result<Search, String> {
        let status = given(&self.status).map(status).transpose()?;
        let time = |name, text: &Option<String>| {
            given(text)
                .map(|text| {
                    time::read(text).map(Timestamp::from_millis).ok_or_else(|| {
                        format!("`{name}` is milliseconds since 1970, or a time as 2026-12-07T09:55 in UTC")
                    })
                })
                .transpose()
        };
        let tag = given(&self.tag)
            .map(|tag| {
                let (name, value) = tag.split_once(':').ok_or("`tag` is `name:value`")?;
                Ok::<_, String>((name.trim().to_owned(), value.trim().to_owned()))
            })
            .transpose()?;
        let after = given(&self.after)
            .map(|place| place.parse().map_err(|error| format!("`after`: {error}")))
            .transpose()?;
        let limit = match given(&self.limit) {
            None => USUAL_LIMIT,
            Some(limit) => limit
                .parse()
                .ok()
                .filter(|limit| (1..=MOST_LIMIT).contains(limit))
                .ok_or_else(|| format!("`limit` is a number from 1 to {MOST_LIMIT}"))?,
        };
        let texts = [&self.function, &self.prefix, &self.tag, &self.text];
        if texts
            .iter()
            .any(|text| given(text).is_some_and(|text| text.len() > MOST_TEXT))
        {
            return Err(format!("a text to look for has at most {MOST_TEXT} bytes"));
        }
        Ok(Search {
            status,
            function: given(&self.function).map(str::to_owned),
            prefix: given(&self.prefix).map(str::to_owned),
            started_from: time("started_from", &self.started_from)?,
            started_before: time("started_before", &self.started_before)?,
            tag,
            text: given(&self.text).map(str::to_owned),
            after,
            limit,
        })
    }

    /// The query of a link to the same, `after` left out.
    pub(crate) fn query(&self) -> String {
        let parts = [
            ("status", &self.status),
            ("function", &self.function),
            ("prefix", &self.prefix),
            ("started_from", &self.started_from),
            ("started_before", &self.started_before),
            ("tag", &self.tag),
            ("text", &self.text),
            ("limit", &self.limit),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter_map(|(name, value)| Some(format!("{name}={}", escaped(given(value)?))))
            .collect();
        parts.join("&")
    }
}

fn given(text: &Option<String>) -> Option<&str> {
    text.as_deref()
        .map(str::trim)
        .filter(|text| !text.is_empty())
}

fn status(word: &str) -> Result<Status, String> {
    let found = STATUSES.iter().find(|(name, _)| *name == word);
    found
        .map(|(_, status)| *status)
        .ok_or_else(|| "`status` is running, blocked, failed or completed".to_owned())
}

/// The word for a status in links and in the API.
pub(crate) fn word(status: Status) -> &'static str {
    let found = STATUSES.iter().find(|(_, known)| *known == status);
    found.map_or("other", |(name, _)| name)
}

/// A text as it can stand in the query of a link.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(set: impl FnOnce(&mut Wanted)) -> Wanted {
        let mut wanted = Wanted::default();
        set(&mut wanted);
        wanted
    }

    #[test]
    fn what_is_empty_is_not_looked_for() {
        let search = wanted(|wanted| {
            wanted.status = Some(String::new());
            wanted.text = Some("  ".to_owned());
        });
        let search = search.search().unwrap();
        assert!(search.status.is_none() && search.text.is_none());
        assert_eq!(search.limit, USUAL_LIMIT);
    }

    #[test]
    fn what_cannot_be_looked_for_is_told() {
        let cases = [
            wanted(|it| it.status = Some("gone".to_owned())),
            wanted(|it| it.started_from = Some("yesterday".to_owned())),
            wanted(|it| it.tag = Some("customer".to_owned())),
            wanted(|it| it.after = Some("x".to_owned())),
            wanted(|it| it.limit = Some("0".to_owned())),
            wanted(|it| it.limit = Some("501".to_owned())),
            wanted(|it| it.text = Some("x".repeat(MOST_TEXT + 1))),
        ];
        for case in cases {
            assert!(case.search().is_err(), "{case:?}");
        }
    }

    #[test]
    fn a_link_says_the_same() {
        let wanted = wanted(|it| {
            it.status = Some("failed".to_owned());
            it.text = Some("a&b=\"ç\"".to_owned());
        });
        assert_eq!(wanted.query(), "status=failed&text=a%26b%3D%22%C3%A7%22");
    }
}
