//! The check that a value comes back from the record as what it was.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::canonical::{Sequences, canonical};
use super::{Payload, PayloadError};

/// Encodes a value that will be read back as the same type, and proves at once that it can be: a type
/// that loses something on the way (look-alike variants of an untagged enum, NaN turned null) is an
/// error here, where its command returned it, and not at a replay months later.
///
/// The order of map entries and of sequence elements is not compared, since a `HashMap` or `HashSet`
/// comes back in another one.
pub(crate) fn encode_surviving<T: Serialize + DeserializeOwned>(
    value: &T,
    limit: usize,
) -> Result<Payload, PayloadError> {
    let wanted = std::any::type_name::<T>();
    let first = Payload::encode(value)?;
    if first.as_bytes().len() > limit {
        return Err(PayloadError::TooLarge {
            wanted,
            size: first.as_bytes().len(),
            limit,
        });
    }
    let back: T = first.decode().map_err(|error| PayloadError::Changes {
        wanted,
        reason: format!("it was written but cannot be read back ({error})"),
    })?;
    let second = Payload::encode(&back)?;
    if first == second || same_but_for_order(&first, &second) {
        return Ok(first);
    }
    Err(PayloadError::Changes {
        wanted,
        reason: format!(
            "it was {} and came back as {}",
            first.preview(120),
            second.preview(120)
        ),
    })
}

fn same_but_for_order(first: &Payload, second: &Payload) -> bool {
    let sorted = |payload: &Payload| {
        rmpv::decode::read_value_ref(&mut payload.as_bytes())
            .map(|value| canonical(&value, Sequences::Sorted))
            .ok()
    };
    sorted(first).is_some() && sorted(first) == sorted(second)
}
