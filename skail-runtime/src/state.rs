//! What commands share and Skail does not record: clients, pools, settings.
//!
//! Owns the map from a type to the one value of it that the builder was given. Must never record
//! anything of it.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// A type that a command or function asks for with `#[state]`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct StateKey {
    id: TypeId,
    name: &'static str,
}

impl StateKey {
    /// The key of `T`.
    #[must_use]
    pub fn of<T: Send + Sync + 'static>() -> Self {
        Self {
            id: TypeId::of::<T>(),
            name: std::any::type_name::<T>(),
        }
    }

    /// The type's name, as the compiler prints it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The values that `#[state]` parameters are lent from.
///
/// A clone lends the same values.
#[derive(Clone, Default)]
pub struct StateMap {
    values: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
}

impl StateMap {
    /// Puts a value in; gives back `false` if there was one of its type, which is then replaced.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) -> bool {
        self.values
            .insert(TypeId::of::<T>(), Arc::new(value))
            .is_none()
    }

    /// Puts in what another map has; of two values of one type the other's counts.
    #[cfg(feature = "testing")]
    pub(crate) fn extend(&mut self, other: &Self) {
        let others = other.values.iter();
        self.values
            .extend(others.map(|(id, value)| (*id, Arc::clone(value))));
    }

    /// The value of type `T`, if there is one.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.values.get(&TypeId::of::<T>())?.downcast_ref()
    }

    /// Whether a value for this key is there.
    #[must_use]
    pub fn has(&self, key: StateKey) -> bool {
        self.values.contains_key(&key.id)
    }
}

impl fmt::Debug for StateMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateMap")
            .field("types", &self.values.len())
            .finish()
    }
}
