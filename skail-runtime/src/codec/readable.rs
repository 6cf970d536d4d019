//! Payloads in formats that people read, JSON above all: the value itself where that gives back the same
//! bytes, and the bytes in hexadecimal where it does not.
//!
//! Owns both directions. In formats for machines a payload is its bytes.

use std::fmt;

use rmpv::Value;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};

use super::Payload;

/// How deep a value may be nested to be written as itself: readers of JSON give up at 128.
const MOST_LEVELS: u32 = 64;

/// How much of a value is shown beside its bytes, in characters.
const SHOWN: usize = 1_000;

/// A payload as people read it. Exactly one of `value` and `messagepack` is there.
#[derive(Serialize, Deserialize)]
pub(super) struct Readable {
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "there"
    )]
    value: Option<Plain>,
    /// The bytes, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    messagepack: Option<String>,
    /// What they say, for people only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shown: Option<String>,
}

/// A value that is null is there, too.
fn there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Plain>, D::Error> {
    Plain::deserialize(deserializer).map(Some)
}

impl Readable {
    pub(super) fn of(payload: &Payload) -> Self {
        let bytes = payload.as_bytes();
        let value = rmpv::decode::read_value(&mut &*bytes).ok();
        let plain = value.filter(|value| is_plain(value, MOST_LEVELS) && encoded(value) == bytes);
        match plain {
            Some(value) => Self {
                value: Some(Plain(value)),
                messagepack: None,
                shown: None,
            },
            None => Self {
                value: None,
                messagepack: Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
                shown: Some(payload.preview(SHOWN)),
            },
        }
    }

    /// The payload, or what is wrong with its text.
    pub(super) fn payload(self) -> Result<Payload, &'static str> {
        let bytes = match (self.value, self.messagepack) {
            (Some(value), None) => encoded(&value.0),
            (None, Some(text)) => from_hexadecimal(&text)
                .ok_or("the `messagepack` of a payload is no text of hexadecimal digits")?,
            _ => return Err("a payload has either a `value` or a `messagepack`"),
        };
        Ok(Payload::from_bytes(&bytes))
    }
}

fn encoded(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, value).expect("a Vec takes any write");
    bytes
}

fn from_hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let pairs = digits?;
    let bytes = pairs.chunks(2).map(|pair| match pair {
        [high, low] => u8::try_from(high * 16 + low).ok(),
        _ => None,
    });
    bytes.collect()
}

/// Whether JSON holds the value as it is.
fn is_plain(value: &Value, levels: u32) -> bool {
    let Some(levels) = levels.checked_sub(1) else {
        return false;
    };
    match value {
        Value::Nil | Value::Boolean(_) | Value::Integer(_) => true,
        Value::F64(number) => number.is_finite(),
        Value::String(text) => text.is_str(),
        Value::Array(items) => items.iter().all(|item| is_plain(item, levels)),
        Value::Map(entries) => entries.iter().all(|(key, value)| {
            matches!(key, Value::String(text) if text.is_str()) && is_plain(value, levels)
        }),
        // One of 32 bits would come back as one of 64; bytes and extensions have no place in JSON.
        Value::F32(_) | Value::Binary(_) | Value::Ext(..) => false,
    }
}

/// A value that [`is_plain`].
struct Plain(Value);

impl Serialize for Plain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Shown(&self.0).serialize(serializer)
    }
}

struct Shown<'a>(&'a Value);

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Boolean(value) => serializer.serialize_bool(*value),
            Value::Integer(value) => match (value.as_u64(), value.as_i64()) {
                (Some(value), _) => serializer.serialize_u64(value),
                (None, Some(value)) => serializer.serialize_i64(value),
                (None, None) => serializer.serialize_unit(),
            },
            Value::F64(value) => serializer.serialize_f64(*value),
            Value::String(text) => serializer.serialize_str(text.as_str().unwrap_or_default()),
            Value::Array(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(&Shown(item))?;
                }
                list.end()
            }
            Value::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(&Shown(key), &Shown(value))?;
                }
                map.end()
            }
            Value::Nil | Value::F32(_) | Value::Binary(_) | Value::Ext(..) => {
                serializer.serialize_unit()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue).map(Self)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::F64(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Plain(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    /// The order of the entries is kept: a struct's fields stand as they were written.
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some((key, Plain(value))) = entries.next_entry::<String, Plain>()? {
            map.push((Value::from(key), value));
        }
        Ok(Value::Map(map))
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Payload, D::Error> {
    let readable = Readable::deserialize(deserializer)?;
    readable.payload().map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;

    use super::super::Payload;

    fn text(payload: &Payload) -> String {
        serde_json::to_string(payload).expect("it can be written")
    }

    #[track_caller]
    fn comes_back(payload: &Payload) {
        let text = text(payload);
        let back: Payload = serde_json::from_str(&text).expect("it can be read");
        assert_eq!(back.as_bytes(), payload.as_bytes(), "{text}");
    }

    #[derive(Serialize)]
    struct Order {
        z_first: u64,
        a_second: Vec<Option<f64>>,
    }

    #[test]
    fn a_value_of_json_is_shown_as_itself_in_the_order_of_its_fields() {
        let order = Order {
            z_first: u64::MAX,
            a_second: vec![Some(0.1), None, Some(-0.0)],
        };
        let payload = Payload::encode(&order).expect("it can be recorded");
        assert_eq!(
            text(&payload),
            r#"{"value":{"z_first":18446744073709551615,"a_second":[0.1,null,-0.0]}}"#
        );
        comes_back(&payload);
        let nothing = Payload::encode(&()).expect("it can be recorded");
        assert_eq!(text(&nothing), r#"{"value":null}"#);
        comes_back(&nothing);
    }

    #[test]
    fn every_number_comes_back_bit_for_bit() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..20_000 {
            let number = f64::from_bits(random.u64(..));
            let numbers = (random.i64(..) >> random.u32(0..64), number);
            comes_back(&Payload::encode(&numbers).expect("it can be recorded"));
        }
    }

    #[test]
    fn what_json_does_not_hold_is_shown_beside_its_bytes() {
        let by_number = BTreeMap::from([(1, "one")]);
        let payload = Payload::encode(&by_number).expect("it can be recorded");
        assert_eq!(
            text(&payload),
            r#"{"messagepack":"8101a36f6e65","shown":"{1: \"one\"}"}"#
        );
        comes_back(&payload);
        comes_back(&Payload::encode(&1.5_f32).expect("it can be recorded"));
        comes_back(&Payload::encode(&f64::NAN).expect("it can be recorded"));
        comes_back(&Payload::encode(&u128::MAX).expect("it can be recorded"));
        comes_back(&Payload::from_bytes(&[0xc1, 0xff, 0x00]));
        let deep = (0..200).fold(Vec::from([0xc0]), |inner, _| [vec![0x91], inner].concat());
        comes_back(&Payload::from_bytes(&deep));
    }

    #[test]
    fn what_was_changed_by_hand_is_an_error() {
        for text in [
            "{}",
            r#"{"value":1,"messagepack":"01"}"#,
            r#"{"messagepack":"0"}"#,
            r#"{"messagepack":"xy"}"#,
        ] {
            assert!(serde_json::from_str::<Payload>(text).is_err(), "{text}");
        }
    }
}
