//! When a server says that the next request may come.
//!
//! Owns the reading of `Retry-After` (RFC 9110, 10.2.3). Pure: the time is passed in. Must never turn
//! what it cannot read into a wait.

use std::time::{Duration, SystemTime};

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// What the headers say; the longest wait if they say several. `None` if they say nothing, nothing that
/// can be read, or a time that has passed.
pub(crate) fn wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    // A date is one of the server's clock, which may not be ours.
    let now = headers
        .get(DATE)
        .and_then(|date| httpdate::parse_http_date(date.to_str().ok()?.trim()).ok())
        .unwrap_or(now);
    headers
        .get_all(RETRY_AFTER)
        .iter()
        .filter_map(|value| one(value.to_str().ok()?.trim(), now))
        .max()
        .filter(|wait| !wait.is_zero())
}

fn one(value: &str, now: SystemTime) -> Option<Duration> {
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than a number can have mean very long, and not nothing.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sun, 06 Nov 1994 08:49:37 GMT.
    const NOW: Duration = Duration::from_secs(784_111_777);

    fn read(values: &[&str], date: Option<&str>) -> Option<u64> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(RETRY_AFTER, value.parse().unwrap());
        }
        if let Some(date) = date {
            headers.insert(DATE, date.parse().unwrap());
        }
        wait(&headers, SystemTime::UNIX_EPOCH + NOW).map(|wait| wait.as_secs())
    }

    #[test]
    fn seconds_are_digits_and_nothing_else() {
        assert_eq!(read(&["5"], None), Some(5));
        assert_eq!(read(&[" 120 "], None), Some(120));
        assert_eq!(read(&["86400"], None), Some(86_400));
        for garbage in ["", "+5", "-5", "5.5", "5s", "0x5", "soon", "5, 6", "٥"] {
            assert_eq!(read(&[garbage], None), None, "{garbage}");
        }
        assert_eq!(read(&["0"], None), None, "it says nothing");
        assert_eq!(read(&["99999999999999999999"], None), Some(u64::MAX));
    }

    #[test]
    fn a_date_counts_from_the_servers_own() {
        let soon = "Sun, 06 Nov 1994 08:50:07 GMT";
        assert_eq!(read(&[soon], None), Some(30));
        // Its clock goes ten seconds behind ours.
        assert_eq!(
            read(&[soon], Some("Sun, 06 Nov 1994 08:49:27 GMT")),
            Some(40)
        );
        assert_eq!(read(&[soon], Some("garbage")), Some(30));
        assert_eq!(read(&["Sunday, 06-Nov-94 08:50:07 GMT"], None), Some(30));
        assert_eq!(read(&["Sun Nov  6 08:50:07 1994"], None), Some(30));
        let past = "Sun, 06 Nov 1994 08:49:07 GMT";
        assert_eq!(read(&[past], None), None);
        assert!(read(&["Fri, 31 Dec 9999 23:59:59 GMT"], None) > Some(1 << 37));
        for garbage in [
            "Sun, 06 Nov 2050 08:49:37",
            "Mon, 06 Nov 1994 08:50:07 GMT",
            "Sun, 06 Nov 1994 08:50:07 +0000",
            "1994-11-06T08:50:07Z",
        ] {
            assert_eq!(read(&[garbage], None), None, "{garbage}");
        }
    }

    #[test]
    fn of_several_headers_the_longest_that_can_be_read_holds() {
        let soon = "Sun, 06 Nov 1994 08:50:07 GMT";
        assert_eq!(read(&["5", soon, "garbage"], None), Some(30));
        assert_eq!(read(&["garbage", "7"], None), Some(7));
        assert_eq!(read(&[], None), None);
    }
}
