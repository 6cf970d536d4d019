//! Which of the two attributes is at work.

/// A command or a function, in the sense of Skail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `#[skail_command]`
    Command,
    /// `#[skail_function]`
    Function,
}

impl Kind {
    /// The attribute's name.
    pub(crate) const fn attribute(self) -> &'static str {
        match self {
            Self::Command => "skail_command",
            Self::Function => "skail_function",
        }
    }

    /// The word for what it makes.
    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Function => "function",
        }
    }
}
