//! What an annotated function is, as data: the constants that the attributes write.
//!
//! Owns the shape of descriptors and the registration list. Must never run anything: the engine does.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::codec::Payload;
use crate::engine::Input;
use crate::error::BodyError;
use crate::retry::Backoff;
use crate::state::StateKey;

/// Where an annotated function stands in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// `module_path!()`.
    pub module: &'static str,
    /// `file!()`.
    pub file: &'static str,
    /// `line!()`.
    pub line: u32,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// What a body gives back: the recorded result, or why there is none.
pub type BodyResult = Result<Payload, BodyError>;

/// A running async body.
pub type BodyFuture = Pin<Box<dyn Future<Output = BodyResult> + Send>>;

/// How a body is run.
#[derive(Clone, Copy)]
pub enum Body {
    /// An `async fn`, polled on the async threads.
    Async(fn(Input) -> BodyFuture),
    /// A plain `fn`, run on a thread that may block.
    Blocking(fn(Input) -> BodyResult),
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Async(_) => "Async",
            Self::Blocking(_) => "Blocking",
        })
    }
}

/// How a command is tried again. Written by `#[skail_command(…)]`; a call can override each part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommandPolicy {
    /// Redeliveries after the first attempt; 0 makes the command at most once.
    pub retry_count: u32,
    /// The wait before each of them; `None` for the engine's default.
    pub backoff: Option<Backoff>,
    /// The longest that one attempt may take.
    pub timeout: Option<Duration>,
    /// The longest wait that an error may ask for; `None` for the engine's default.
    pub max_retry_after: Option<Duration>,
    /// The name of what it calls, whose breaker and budget it shares.
    pub dependency: Option<&'static str>,
}

impl CommandPolicy {
    /// Redeliveries of a command unless it says otherwise (DESIGN 1.2).
    pub const DEFAULT_RETRY_COUNT: u32 = 5;

    /// 5 redeliveries, the engine's backoff, no timeout.
    pub const DEFAULT: Self = Self {
        retry_count: Self::DEFAULT_RETRY_COUNT,
        backoff: None,
        timeout: None,
        max_retry_after: None,
        dependency: None,
    };

    /// Whether a body may never run twice.
    #[must_use]
    pub const fn at_most_once(&self) -> bool {
        self.retry_count == 0
    }
}

/// How a function is redelivered. Written by `#[skail_function(…)]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FunctionPolicy {
    /// Redeliveries after the first attempt.
    pub retry_count: u32,
    /// The wait before each of them; `None` for the engine's default.
    pub backoff: Option<Backoff>,
}

impl FunctionPolicy {
    /// Redeliveries of a function unless it says otherwise (DESIGN 1.2).
    pub const DEFAULT_RETRY_COUNT: u32 = 15;

    /// 15 redeliveries, the engine's backoff.
    pub const DEFAULT: Self = Self {
        retry_count: Self::DEFAULT_RETRY_COUNT,
        backoff: None,
    };
}

/// A command: a step with an outside effect.
#[derive(Debug)]
pub struct CommandDescriptor {
    /// The recorded name.
    pub name: &'static str,
    /// Where it is defined.
    pub site: Site,
    /// The names of the recorded parameters, in order.
    pub parameters: &'static [&'static str],
    /// The `#[state]` types that its body borrows.
    pub states: &'static [fn() -> StateKey],
    /// How it is tried again.
    pub policy: CommandPolicy,
    /// What runs.
    pub body: Body,
}

/// A function: the code that orders steps.
#[derive(Debug)]
pub struct FunctionDescriptor {
    /// The recorded name.
    pub name: &'static str,
    /// Where it is defined.
    pub site: Site,
    /// The names of the recorded parameters, in order.
    pub parameters: &'static [&'static str],
    /// The `#[state]` types that its body borrows.
    pub states: &'static [fn() -> StateKey],
    /// How it is redelivered.
    pub policy: FunctionPolicy,
    /// What runs.
    pub body: fn(Input) -> BodyFuture,
}

/// One annotated function, as the registry collects it.
#[derive(Debug, Clone, Copy)]
pub enum Registration {
    /// Written by `#[skail_command]`.
    Command(&'static CommandDescriptor),
    /// Written by `#[skail_function]`.
    Function(&'static FunctionDescriptor),
}

inventory::collect!(Registration);

/// Implemented by the type of the same name that stands beside each annotated function, for those who
/// register explicitly: `Skail::builder().register::<process_order>()`.
pub trait Register {
    /// The descriptor.
    const REGISTRATION: Registration;
}

/// A command by its types; implemented by the type of the same name that stands beside each
/// `#[skail_command]`. Tests name it, to put something in the place of its body.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no command",
    label = "name a `#[skail_command]` here",
    note = "only commands have a body that does something outside; a function orders them, and runs as it is"
)]
pub trait Command<Arguments, Returned>: Register {
    /// The recorded arguments, for one run of the body, which from then on has its idempotency key.
    #[doc(hidden)]
    fn __skail_read(input: &Input) -> Result<Arguments, BodyError>;

    /// What is recorded of what the body returned.
    #[doc(hidden)]
    fn __skail_finish(input: &Input, outcome: Returned) -> BodyResult;
}
