//! Points in time and lengths of time, as people read and write them.
//!
//! Everything is in UTC here; the page's script writes points in the reader's own time.

use std::time::Duration;

const DAY: i64 = 86_400_000;

/// `2026-12-07 09:55:12.345 UTC`, or `never` for a point that no calendar has.
pub(crate) fn shown(millis: i64) -> String {
    match parts(millis) {
        Some((year, month, day, rest)) => format!(
            "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}.{:03} UTC",
            rest / 3_600_000,
            rest / 60_000 % 60,
            rest / 1_000 % 60,
            rest % 1_000
        ),
        None => "never".to_owned(),
    }
}

/// As an attribute `datetime` has it; nothing for a point that no calendar has.
pub(crate) fn machine(millis: i64) -> Option<String> {
    parts(millis)?;
    let text = shown(millis).replacen(' ', "T", 1);
    Some(text.replace(" UTC", "Z"))
}

/// Year, month, day, and milliseconds of the day.
fn parts(millis: i64) -> Option<(i64, i64, i64, i64)> {
    // The years that have four digits.
    if !(-62_135_596_800_000..253_402_300_800_000).contains(&millis) {
        return None;
    }
    let (days, rest) = (millis.div_euclid(DAY), millis.rem_euclid(DAY));
    // Years begin in March here, so that a leap day is the last of its year; 146,097 days are 400 years.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    Some((year, month, day, rest))
}

/// The point that a text names: milliseconds since 1970, `2026-12-07`, or `2026-12-07T09:55`, in UTC.
pub(crate) fn read(text: &str) -> Option<i64> {
    if let Ok(millis) = text.parse() {
        return Some(millis);
    }
    let (date, time) = text.split_once('T').unwrap_or((text, "00:00"));
    let numbers = |text: &str, separator| -> Option<Vec<i64>> {
        text.split(separator)
            .map(|part| part.parse().ok())
            .collect()
    };
    let (date, time) = (numbers(date, '-')?, numbers(time, ':')?);
    let (&[year, month, day], &[hour, minute, ..]) = (&*date, &*time) else {
        return None;
    };
    let fits = (1..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute);
    if !fits {
        return None;
    }
    let named = month;
    let year = if month <= 2 { year - 1 } else { year };
    let month = if month > 2 { month - 3 } else { month + 9 };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    let midnight = (days - 719_468) * DAY;
    // A day that its month does not have would be one of the next month.
    parts(midnight).filter(|(_, there, on, _)| (*there, *on) == (named, day))?;
    Some(midnight + hour * 3_600_000 + minute * 60_000)
}

/// `0 ms`, `1.2 s`, `3 min 4 s`, `5 h 6 min`, `7 d 8 h`.
pub(crate) fn length(millis: i64) -> String {
    let millis = u64::try_from(millis).unwrap_or(0);
    let seconds = Duration::from_millis(millis).as_secs();
    match seconds {
        0 => format!("{millis} ms"),
        1..60 => format!("{}.{} s", seconds, millis % 1_000 / 100),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_read_as_they_are_shown() {
        for (millis, text) in [
            (0, "1970-01-01 00:00:00.000 UTC"),
            (951_782_400_000, "2000-02-29 00:00:00.000 UTC"),
            (1_796_637_312_345, "2026-12-07 09:55:12.345 UTC"),
            (-1, "1969-12-31 23:59:59.999 UTC"),
            (253_402_300_799_999, "9999-12-31 23:59:59.999 UTC"),
        ] {
            assert_eq!(shown(millis), text);
            let minute = millis.div_euclid(60_000) * 60_000;
            assert_eq!(read(&text[..16].replace(' ', "T")), Some(minute), "{text}");
        }
        assert_eq!(shown(i64::MAX), "never");
        assert_eq!(shown(i64::MIN), "never");
        assert_eq!(machine(i64::MAX), None);
        assert_eq!(machine(0).unwrap(), "1970-01-01T00:00:00.000Z");
        assert_eq!(read("1000"), Some(1_000));
        assert_eq!(read("2026-12-07"), read("2026-12-07T00:00"));
        for text in [
            "",
            "x",
            "2026",
            "2026-13-01",
            "2026-02-29",
            "2026-04-31",
            "2026-12-07T24:00",
            "2026-12-07T10",
            "a-b-c",
        ] {
            let known = text == "2026";
            assert_eq!(read(text).is_some(), known, "{text}");
        }
    }

    #[test]
    fn lengths_are_short() {
        let cases = [
            (-5, "0 ms"),
            (999, "999 ms"),
            (1_250, "1.2 s"),
            (184_000, "3 min 4 s"),
            (18_360_000, "5 h 6 min"),
            (633_600_000, "7 d 8 h"),
        ];
        for (millis, text) in cases {
            assert_eq!(length(millis), text);
        }
    }
}
