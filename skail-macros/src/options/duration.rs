//! Durations as options write them: `"500ms"`, `"1.5s"`, `"1m 30s"`.
//!
//! Owns the grammar and its limits. Must never round: a duration that no clock can hold is refused.

use std::time::Duration;

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// Nanoseconds in each unit, largest first.
const UNITS: [(&str, u128); 8] = [
    ("d", 86_400 * NANOS_PER_SECOND),
    ("h", 3_600 * NANOS_PER_SECOND),
    ("min", 60 * NANOS_PER_SECOND),
    ("m", 60 * NANOS_PER_SECOND),
    ("s", NANOS_PER_SECOND),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// A hundred years: far enough for any wait, near enough that a due time never overflows.
const LONGEST: u128 = 36_500 * 86_400 * NANOS_PER_SECOND;

/// Reads a duration.
///
/// # Errors
/// One sentence that says what is wrong, to be put after the option's name.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err("the duration is empty: write a number and a unit, such as \"10s\"".into());
    }
    let mut total = 0_u128;
    let mut smallest = u128::MAX;
    while !rest.is_empty() {
        let (number, after) = split(rest, |c| c.is_ascii_digit() || c == '.');
        let (unit, after) = split(after.trim_start(), char::is_alphabetic);
        let nanos = unit_nanos(text, number, unit)?;
        if nanos >= smallest {
            return Err(format!(
                "`{text}` does not go from the larger unit to the smaller: write it like \"1m 30s\""
            ));
        }
        smallest = nanos;
        total = scaled(number, nanos)?
            .checked_add(total)
            .filter(|&sum| sum <= LONGEST)
            .ok_or_else(|| format!("`{text}` is too long: the longest duration is \"36500d\""))?;
        rest = after.trim_start();
    }
    if total == 0 {
        return Err("the duration is zero: it must be longer".into());
    }
    let seconds = u64::try_from(total / NANOS_PER_SECOND).map_err(|error| error.to_string())?;
    let nanos = u32::try_from(total % NANOS_PER_SECOND).map_err(|error| error.to_string())?;
    Ok(Duration::new(seconds, nanos))
}

fn split(text: &str, takes: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !takes(c)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn unit_nanos(text: &str, number: &str, unit: &str) -> Result<u128, String> {
    if number.is_empty() {
        return Err(format!(
            "`{text}` is not a duration: write a number and a unit, such as \"10s\" or \"1m 30s\""
        ));
    }
    if unit.is_empty() {
        return Err(format!(
            "`{text}` has no unit: write `{number}s` for seconds or `{number}ms` for milliseconds"
        ));
    }
    let unit = if unit == "µs" || unit == "μs" {
        "us"
    } else {
        unit
    };
    UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .map(|&(_, nanos)| nanos)
        .ok_or_else(|| {
            format!("there is no unit `{unit}`: use one of `d`, `h`, `m`, `s`, `ms`, `us`, `ns`")
        })
}

/// `number * nanos`, exact.
fn scaled(number: &str, nanos: u128) -> Result<u128, String> {
    let not_a_number = || format!("`{number}` is not a number: write it like 10 or 1.5");
    let too_long = || format!("`{number}` is too large for a duration");
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let bad = |digits: &str| digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit());
    if bad(whole) || bad(fraction) {
        return Err(not_a_number());
    }
    let whole: u128 = whole.parse().map_err(|_| too_long())?;
    let fraction = fraction.trim_end_matches('0');
    let scale = u32::try_from(fraction.len())
        .ok()
        .and_then(|digits| 10_u128.checked_pow(digits));
    let (Some(scale), Ok(fraction)) = (scale, format!("0{fraction}").parse::<u128>()) else {
        return Err(format!(
            "`{number}` has more digits than a nanosecond can show"
        ));
    };
    let fraction = fraction.checked_mul(nanos).ok_or_else(too_long)?;
    if fraction % scale != 0 {
        return Err(format!(
            "`{number}` has more digits than a nanosecond can show"
        ));
    }
    whole
        .checked_mul(nanos)
        .and_then(|product| product.checked_add(fraction / scale))
        .ok_or_else(too_long)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(text: &str) -> u128 {
        parse(text).expect("it is a duration").as_nanos()
    }

    #[test]
    fn numbers_with_units_are_exact() {
        assert_eq!(nanos("500ms"), 500_000_000);
        assert_eq!(nanos("1.5s"), 1_500_000_000);
        assert_eq!(nanos(" 1m 30s "), 90 * NANOS_PER_SECOND);
        assert_eq!(nanos("1h30min"), 5_400 * NANOS_PER_SECOND);
        assert_eq!(nanos("2 d"), 2 * 86_400 * NANOS_PER_SECOND);
        assert_eq!(nanos("1500us"), 1_500_000);
        assert_eq!(nanos("7µs"), 7_000);
        assert_eq!(nanos("0.000000001s"), 1);
        assert_eq!(nanos("36500d"), LONGEST);
    }

    #[test]
    fn what_is_no_duration_is_refused_in_words() {
        for (text, word) in [
            ("", "empty"),
            ("  ", "empty"),
            ("10", "no unit"),
            ("s", "not a duration"),
            ("-1s", "not a duration"),
            ("10 sec", "no unit `sec`"),
            ("0s", "zero"),
            ("0.0ms", "zero"),
            ("1.s", "not a number"),
            (".5s", "not a number"),
            ("1.2.3s", "not a number"),
            ("1.5ns", "more digits"),
            ("30s 1m", "larger unit"),
            ("1s 1s", "larger unit"),
            ("1m 1min", "larger unit"),
            ("36501d", "too long"),
            ("99999999999999999999999999999999999999999999d", "too large"),
            ("340282366920938463463374607431768211455d", "too large"),
            (
                "0.0000000000000000000000000000000000000000001s",
                "more digits",
            ),
        ] {
            let message = parse(text).expect_err(text);
            assert!(message.contains(word), "{text:?}: {message}");
        }
    }
}
