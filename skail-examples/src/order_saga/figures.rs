//! Numbers as people read them.
//!
//! Owns nothing but their form.

use rust_decimal::Decimal;

/// A count with its thousands apart: `14,553`.
#[must_use]
pub fn count(number: impl TryInto<u64>) -> String {
    apart(&number.try_into().unwrap_or(u64::MAX).to_string())
}

/// An amount in pounds: `GBP 1,234.50`.
#[must_use]
pub fn pounds(amount: Decimal) -> String {
    let text = format!("{amount:.2}");
    let (sign, text) = text
        .strip_prefix('-')
        .map_or(("", text.as_str()), |digits| ("-", digits));
    let (whole, pence) = text.split_once('.').unwrap_or((text, "00"));
    format!("GBP {sign}{}.{pence}", apart(whole))
}

fn apart(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!(
            [
                count(0_u64),
                count(999_u64),
                count(1_000_usize),
                count(1_234_567_u64)
            ],
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(pounds(Decimal::new(123_450, 2)), "GBP 1,234.50");
        assert_eq!(pounds(Decimal::new(-5, 1)), "GBP -0.50");
        assert_eq!(pounds(Decimal::ZERO), "GBP 0.00");
    }
}
