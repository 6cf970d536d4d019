//! Looks a value through, as serde shows it, before it is written: for what the bytes cannot tell.
//!
//! `Some(None)`, `Some(())` and the like are written as the same nil as `None` and come back as `None`,
//! which is written as nil again. And what is nested deep enough makes whoever writes or reads it run out
//! of stack, which ends the process.

use std::fmt::{self, Display};

use serde::ser::{self, Serialize, Serializer};

use super::PayloadError;

/// How many levels may be nested: far below what the stack of a thread holds, far above what people nest.
const MOST_LEVELS: u16 = 512;

/// Refuses a value that holds a `Some` that is written as nothing, or that is nested too deep.
pub(super) fn look_through<T: Serialize + ?Sized>(value: &T) -> Result<(), PayloadError> {
    let wanted = std::any::type_name::<T>();
    match value.serialize(Look { level: 0 }) {
        Ok(_) => Ok(()),
        Err(
            found @ Found {
                what: What::Lost, ..
            },
        ) => Err(PayloadError::Changes {
            wanted,
            reason: found.to_string(),
        }),
        Err(found) => Err(PayloadError::Encode {
            wanted,
            reason: found.to_string(),
        }),
    }
}

/// What was found, and where.
#[derive(Debug)]
struct Found {
    what: What,
    /// From the inside out.
    path: Vec<String>,
}

#[derive(Debug)]
enum What {
    /// A `Some` that would come back as `None`.
    Lost,
    /// More than [`MOST_LEVELS`].
    Deep,
    /// What the value's own `Serialize` said.
    Said(String),
}

impl Found {
    fn new(what: What) -> Self {
        Self {
            what,
            path: Vec::new(),
        }
    }

    fn inside(mut self, place: impl Display) -> Self {
        if !matches!(self.what, What::Deep) {
            self.path.push(place.to_string());
        }
        self
    }
}

impl Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Lost => f.write_str(
                "a `Some` with nothing in it, such as `Some(None)` or `Some(())`, comes back as `None`",
            )?,
            What::Deep => write!(f, "it is nested more than {MOST_LEVELS} levels deep")?,
            What::Said(text) => f.write_str(text)?,
        }
        for (depth, place) in self.path.iter().rev().enumerate() {
            f.write_str(if depth == 0 { ", at " } else { "." })?;
            f.write_str(place)?;
        }
        Ok(())
    }
}

impl std::error::Error for Found {}

impl ser::Error for Found {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(What::Said(message.to_string()))
    }
}

/// Whether what was looked at is written as nothing.
type IsNothing = Result<bool, Found>;

/// See the module. Goes through a value and writes nothing.
#[derive(Clone, Copy)]
struct Look {
    level: u16,
}

impl Look {
    /// The look at what is inside.
    fn deeper(self) -> Result<Self, Found> {
        if self.level == MOST_LEVELS {
            return Err(Found::new(What::Deep));
        }
        Ok(Self {
            level: self.level + 1,
        })
    }

    fn parts(self) -> Result<Parts, Found> {
        Ok(Parts {
            look: self.deeper()?,
            before: 0,
        })
    }
}

/// Methods for values with nothing inside.
macro_rules! leaves {
    ($($method:ident($type:ty))*) => {
        $(fn $method(self, _: $type) -> IsNothing {
            Ok(false)
        })*
    };
}

impl Serializer for Look {
    type Ok = bool;
    type Error = Found;
    type SerializeSeq = Parts;
    type SerializeTuple = Parts;
    type SerializeTupleStruct = Parts;
    type SerializeTupleVariant = Parts;
    type SerializeMap = Entries;
    type SerializeStruct = Parts;
    type SerializeStructVariant = Parts;

    leaves! {
        serialize_bool(bool) serialize_char(char) serialize_str(&str) serialize_bytes(&[u8])
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
        serialize_f32(f32) serialize_f64(f64)
        serialize_unit_struct(&'static str)
    }

    fn collect_str<T: Display + ?Sized>(self, _: &T) -> IsNothing {
        Ok(false)
    }

    fn serialize_none(self) -> IsNothing {
        Ok(true)
    }

    fn serialize_unit(self) -> IsNothing {
        Ok(true)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> IsNothing {
        match value.serialize(self.deeper()?) {
            Ok(true) => Err(Found::new(What::Lost)),
            looked => looked,
        }
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> IsNothing {
        value.serialize(self.deeper()?)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> IsNothing {
        Ok(false)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> IsNothing {
        self.parts()?.named(variant, value)?;
        Ok(false)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts, Found> {
        self.parts()
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts, Found> {
        self.parts()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Parts, Found> {
        self.parts()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Parts, Found> {
        self.parts()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Entries, Found> {
        Ok(Entries {
            look: self.deeper()?,
        })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts, Found> {
        self.parts()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Parts, Found> {
        self.parts()
    }
}

/// The parts of a sequence, tuple or struct.
struct Parts {
    look: Look,
    before: usize,
}

impl Parts {
    fn next<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Found> {
        let place = self.before;
        self.before += 1;
        let looked = value.serialize(self.look);
        looked.map(|_| ()).map_err(|found| found.inside(place))
    }

    fn named<T: Serialize + ?Sized>(&self, name: &'static str, value: &T) -> Result<(), Found> {
        let looked = value.serialize(self.look);
        looked.map(|_| ()).map_err(|found| found.inside(name))
    }
}

impl ser::SerializeSeq for Parts {
    type Ok = bool;
    type Error = Found;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Found> {
        self.next(value)
    }
    fn end(self) -> IsNothing {
        Ok(false)
    }
}

impl ser::SerializeTuple for Parts {
    type Ok = bool;
    type Error = Found;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Found> {
        self.next(value)
    }
    fn end(self) -> IsNothing {
        Ok(false)
    }
}

impl ser::SerializeTupleStruct for Parts {
    type Ok = bool;
    type Error = Found;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Found> {
        self.next(value)
    }
    fn end(self) -> IsNothing {
        Ok(false)
    }
}

impl ser::SerializeTupleVariant for Parts {
    type Ok = bool;
    type Error = Found;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Found> {
        self.next(value)
    }
    fn end(self) -> IsNothing {
        Ok(false)
    }
}

impl ser::SerializeStruct for Parts {
    type Ok = bool;
    type Error = Found;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Found> {
        self.named(name, value)
    }
    fn end(self) -> IsNothing {
        Ok(false)
    }
}

impl ser::SerializeStructVariant for Parts {
    type Ok = bool;
    type Error = Found;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Found> {
        self.named(name, value)
    }
    fn end(self) -> IsNothing {
        Ok(false)
    }
}

/// The entries of a map.
struct Entries {
    look: Look,
}

impl ser::SerializeMap for Entries {
    type Ok = bool;
    type Error = Found;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Found> {
        let looked = key.serialize(self.look);
        looked.map(|_| ()).map_err(|found| found.inside("(a key)"))
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Found> {
        let looked = value.serialize(self.look);
        looked
            .map(|_| ())
            .map_err(|found| found.inside("(a value)"))
    }
    fn end(self) -> IsNothing {
        Ok(false)
    }
}
