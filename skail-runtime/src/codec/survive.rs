//! The check that a value comes back from the record as what it was.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::canonical::{Sequences, canonical};
use super::look::look_through;
use super::payload::{read_value, write_value};
use super::{Payload, PayloadError};

/// Encodes a value that will be read back as the same type, and proves at once that it can be: a type
/// that loses something on the way (look-alike variants of an untagged enum, `Some(None)`) is an error
/// here, where its command returned it, and not at a replay months later.
///
/// The order of map entries and of sequence elements is not compared, since a `HashMap` or `HashSet`
/// comes back in another one.
pub(crate) fn encode_surviving<T: Serialize + DeserializeOwned>(
    value: &T,
    limit: usize,
) -> Result<Payload, PayloadError> {
    look_through(value)?;
    let payload = Payload::encode(value)?;
    let size = payload.as_bytes().len();
    if size > limit {
        return Err(PayloadError::TooLarge {
            wanted: std::any::type_name::<T>(),
            size,
            limit,
        });
    }
    demand_survival::<T>(payload.as_bytes())?;
    Ok(payload)
}

/// Writes a value after others, with the same proof.
pub(super) fn write_surviving<T: Serialize + DeserializeOwned>(
    bytes: &mut Vec<u8>,
    value: &T,
) -> Result<(), PayloadError> {
    look_through(value)?;
    let start = bytes.len();
    write_value(bytes, value)?;
    demand_survival::<T>(bytes.get(start..).unwrap_or_default())
}

/// Demands that what a `T` was written as comes back as the same.
fn demand_survival<T: Serialize + DeserializeOwned>(written: &[u8]) -> Result<(), PayloadError> {
    let changes = |reason| PayloadError::Changes {
        wanted: std::any::type_name::<T>(),
        reason,
    };
    let (back, _) = read_value::<T>(written)
        .map_err(|error| changes(format!("it was written but cannot be read back ({error})")))?;
    let mut again = Vec::with_capacity(written.len());
    write_value(&mut again, &back)?;
    if written == again || same_but_for_order(written, &again) {
        return Ok(());
    }
    let (first, second) = (Payload::from_bytes(written), Payload::from_bytes(&again));
    Err(changes(format!(
        "it was {} and came back as {}",
        first.preview(120),
        second.preview(120)
    )))
}

/// Whether two encoded values differ in nothing but the order of entries and elements.
pub(super) fn same_but_for_order(first: &[u8], second: &[u8]) -> bool {
    let sorted = |mut bytes: &[u8]| {
        rmpv::decode::read_value_ref(&mut bytes)
            .map(|value| canonical(&value, Sequences::Sorted))
            .ok()
    };
    match (sorted(first), sorted(second)) {
        (Some(first), Some(second)) => first == second,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap, HashSet};
    use std::fmt::Debug;

    use serde::Deserialize;

    use super::*;

    fn survives<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
        let payload = encode_surviving(value, usize::MAX).expect("it survives");
        assert_eq!(&payload.decode::<T>().expect("it can be read"), value);
    }

    fn refused<T: Serialize + DeserializeOwned + Debug>(value: &T) -> String {
        let error = encode_surviving(value, usize::MAX).expect_err("it is lost on the way");
        assert!(matches!(error, PayloadError::Changes { .. }), "{error}");
        error.to_string()
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Profile {
        name: String,
        address: Address,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Address {
        Street(String, Option<Option<u32>>),
        Unknown,
    }

    #[test]
    fn a_some_with_nothing_in_it_is_refused_wherever_it_is() {
        refused(&Some(None::<u32>));
        refused(&Some(()));
        refused(&vec![Some(Some(1)), Some(None)]);
        refused(&(1, Some(None::<u32>)));
        refused(&HashMap::from([(1, Some(()))]));
        refused(&BTreeMap::from([(Some(()), 1)]));
        let address = Address::Street("Long Lane".to_owned(), Some(None));
        let error = refused(&Some(Profile {
            name: "Ada".to_owned(),
            address,
        }));
        assert!(
            error
                .contains("such as `Some(None)` or `Some(())`, comes back as `None`, at address.1"),
            "{error}"
        );
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Nested(Vec<Nested>);

    #[test]
    fn what_is_nested_too_deep_for_the_stack_is_refused_and_two_hundred_levels_are_not() {
        let nested = |depth| (0..depth).fold(Nested(Vec::new()), |inside, _| Nested(vec![inside]));
        survives(&nested(200));
        let error = encode_surviving(&nested(300), usize::MAX).expect_err("it is too deep");
        let text = error.to_string();
        assert!(
            text.contains("cannot be recorded: it is nested more than"),
            "{text}"
        );
        // The path to what is too deep is as long as that.
        assert!(text.len() < 300, "{text}");
    }

    #[test]
    fn options_that_are_told_apart_survive() {
        survives(&None::<Option<u32>>);
        survives(&Some(Some(0)));
        survives(&Some(String::new()));
        survives(&Some(Vec::<u8>::new()));
        survives(&vec![None, Some(1)]);
        survives(&Address::Street(String::new(), None));
        survives(&Some(Address::Unknown));
        survives(&());
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(untagged)]
    enum LookAlike {
        Length { metres: f64 },
        Area { metres: f64, wide: f64 },
    }

    #[test]
    fn an_untagged_variant_that_comes_back_as_another_is_refused() {
        survives(&LookAlike::Length { metres: 1.0 });
        let metres = 2.0;
        let error = refused(&LookAlike::Area { metres, wide: 3.0 });
        assert!(
            error.contains("it was {\"metres\": 2, \"wide\": 3} and came back as {\"metres\": 2}"),
            "{error}"
        );
    }

    #[test]
    fn sets_and_maps_survive_though_their_order_changes() {
        survives(&(0..100).collect::<HashSet<u32>>());
        let map: HashMap<(u8, u8), HashSet<String>> = (0..20)
            .map(|n| ((n, n), HashSet::from([n.to_string(), "x".to_owned()])))
            .collect();
        survives(&map);
    }

    #[test]
    fn no_part_of_a_record_passes_for_the_whole() {
        let value = ("text".to_owned(), vec![1_u32, 70_000], Some(3.5), ());
        let whole = Payload::encode(&value).expect("it is written");
        for cut in 0..whole.as_bytes().len() {
            let part = Payload::from_bytes(&whole.as_bytes()[..cut]);
            part.decode::<(String, Vec<u32>, Option<f64>, ())>()
                .expect_err("it was cut off");
        }
    }

    #[test]
    fn nothing_at_all_is_not_a_record_of_nothing() {
        let empty = Payload::from_bytes(&[]);
        empty.decode::<()>().expect_err("there are no bytes");
        empty.decode::<String>().expect_err("there are no bytes");
        empty.decode::<Vec<u8>>().expect_err("there are no bytes");
        empty
            .decode::<Option<u8>>()
            .expect_err("there are no bytes");
        let records = [
            Payload::encode(&()),
            Payload::encode(""),
            Payload::encode(&[0_u8; 0]),
        ];
        let records = records.map(|record| record.expect("it is written"));
        assert!(records[0] != records[1] && records[1] != records[2] && records[0] != records[2]);
    }
}
