//! The attributes used through a renamed dependency.
