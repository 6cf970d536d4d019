//! What a body's error says about trying again.
//!
//! Owns the ways to say it, and what becomes of it. Must never judge an error that says nothing: which
//! ones are final is the user's word and not a guess.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use crate::error::{Advice, CommandError, Elapsed, StepError};

/// Implemented by an error type that knows whether another attempt can help.
///
/// A command or function whose error is of this type asks it after every failed attempt; the answer is
/// recorded with the failure. In a body that returns `anyhow::Result`, [`advised`] carries the answer
/// along.
///
/// There is no predicate `retry_if` beside it, on purpose: which error is final is known where it arises,
/// and said there it is recorded, shown, and tested by calling the body. A predicate in an attribute would
/// judge errors from afar by type or text, in a second place that has to follow every change of the
/// first; the variant that it forgot would end a command in the middle of an outage.
///
/// ```
/// use std::time::Duration;
/// use skail_runtime::prelude::*;
/// use skail_runtime::{Advice, RetryAdvice};
///
/// #[derive(Debug, thiserror::Error)]
/// enum GatewayError {
///     #[error("the gateway does not know this card")]
///     UnknownCard,
///     #[error("the gateway is busy for {0:?}")]
///     Busy(Duration),
///     #[error("the connection broke")]
///     Broken,
/// }
///
/// impl RetryAdvice for GatewayError {
///     fn advice(&self) -> Advice {
///         match self {
///             Self::UnknownCard => Advice::Permanent,
///             Self::Busy(time) => Advice::After(*time),
///             Self::Broken => Advice::Usual,
///         }
///     }
/// }
///
/// #[skail_command]
/// async fn charge_card(card: u64) -> Result<u64, GatewayError> {
///     if card == 0 {
///         return Err(GatewayError::UnknownCard);
///     }
///     Ok(card)
/// }
/// ```
pub trait RetryAdvice {
    /// What this error says.
    fn advice(&self) -> Advice;
}

/// Says that no further attempt can help: the command has failed with this one, whatever its
/// `retry_count`; a function that returns it has failed and is not redelivered.
///
/// Takes `anyhow::Error` and everything that turns into one. Text, sources and backtrace stay those of
/// `error`; [`Advised`] gives back the error itself.
///
/// A function that passes on the error of a command, with `?` for instance, passes the advice on too:
/// running the command again in a redelivery would be another attempt.
///
/// ```
/// use skail_runtime::prelude::*;
///
/// #[skail_command]
/// async fn parse_invoice(text: String) -> anyhow::Result<u64> {
///     // A text that is no number now will be none in the next attempt.
///     text.parse().map_err(permanent)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use skail_runtime::Advice;
///
/// let error = parse_invoice::body("seven".to_owned()).await.unwrap_err();
/// assert_eq!(error.to_string(), "invalid digit found in string");
/// assert_eq!(Advice::of(&error), Advice::Permanent);
/// # }
/// ```
pub fn permanent(error: impl Into<anyhow::Error>) -> anyhow::Error {
    Advised::error_with(Advice::Permanent, error.into())
}

/// Says when the next attempt may come: after `time`, in place of the backoff's delay.
///
/// Up to 10 % are added, so that many who were told the same time do not come back together; it is never
/// more than `max_retry_after` (5 minutes unless the builder or the call says otherwise), those 10 %
/// included. The attempt counts like any other that failed. The wait is recorded as a due time, survives
/// a crash and, when it is long, holds no memory. A `time` of zero says nothing: a server whose date has
/// passed must not be called without a pause.
///
/// ```
/// use std::time::Duration;
/// use skail_runtime::prelude::*;
///
/// #[skail_command]
/// async fn fetch(url: String) -> anyhow::Result<String> {
///     let (status, wait) = (429, Duration::from_secs(7)); // what the server said
///     if status == 429 {
///         return Err(retry_after(anyhow::anyhow!("{url} is busy"), wait));
///     }
///     Ok(url)
/// }
/// ```
pub fn retry_after(error: impl Into<anyhow::Error>, time: Duration) -> anyhow::Error {
    Advised::error_with(Advice::After(time), error.into())
}

/// Carries what an error says of itself into a body that returns `anyhow::Result`:
/// `call().map_err(advised)?`. A plain `?` turns the error into an `anyhow::Error` that nobody can ask.
pub fn advised<E: RetryAdvice + Into<anyhow::Error>>(error: E) -> anyhow::Error {
    let advice = error.advice();
    Advised::error_with(advice, error.into())
}

/// An error and what was said about trying again; made by [`permanent`], [`retry_after`] and [`advised`].
///
/// It shows itself as the error that it holds, text and sources alike. Somebody who has to look at that
/// error finds it here:
///
/// ```
/// use skail_runtime::retry::{Advised, permanent};
///
/// let error = permanent("x".parse::<u32>().unwrap_err());
/// let inner = error.downcast_ref::<Advised>().unwrap().error();
/// assert!(inner.is::<std::num::ParseIntError>());
/// ```
pub struct Advised {
    advice: Advice,
    error: anyhow::Error,
}

impl Advised {
    fn error_with(advice: Advice, error: anyhow::Error) -> anyhow::Error {
        anyhow::Error::new(Self { advice, error })
    }

    /// What was said.
    #[must_use]
    pub fn advice(&self) -> Advice {
        self.advice
    }

    /// The error of which it was said.
    #[must_use]
    pub fn error(&self) -> &anyhow::Error {
        &self.error
    }
}

impl fmt::Display for Advised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl fmt::Debug for Advised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.error, f)
    }
}

impl StdError for Advised {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.error.chain().nth(1)
    }
}

impl Advice {
    /// What an error says: the outermost word in its chain of sources, be it of [`permanent`],
    /// [`retry_after`] or [`advised`], or of a command's error that was passed on.
    #[must_use]
    pub fn of(error: &anyhow::Error) -> Self {
        let word = |cause: &(dyn StdError + 'static)| {
            let advised = cause.downcast_ref::<Advised>().map(Advised::advice);
            let commands = || cause.downcast_ref().map(CommandError::advice);
            let steps = || cause.downcast_ref().map(StepError::advice);
            let timers = || cause.downcast_ref().map(Elapsed::advice);
            advised.or_else(commands).or_else(steps).or_else(timers)
        };
        error.chain().find_map(word).unwrap_or_default()
    }

    /// The wait before the next attempt: `usual`, unless another time was said, which is at most `most`.
    /// `random` is from `[0, 1)`.
    pub(crate) fn wait(
        self,
        most: Duration,
        random: f64,
        usual: impl FnOnce() -> Duration,
    ) -> Duration {
        match self {
            Self::After(time) if !time.is_zero() => {
                let share = random.clamp(0.0, 1.0);
                let spread = (time / 10).mul_f64(if share.is_nan() { 0.0 } else { share });
                time.saturating_add(spread).min(most)
            }
            Self::After(_) | Self::Usual | Self::Permanent => usual(),
        }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::{Context as _, anyhow};

    use super::*;

    #[test]
    fn the_outermost_word_counts_and_text_and_sources_stay() {
        let cause = "x".parse::<u32>().unwrap_err();
        let error = anyhow::Error::new(cause).context("no invoice");
        let told = retry_after(permanent(error), Duration::from_secs(1)).context("while paying");
        assert_eq!(Advice::of(&told), Advice::After(Duration::from_secs(1)));
        let texts: Vec<String> = told.chain().map(ToString::to_string).collect();
        let expected = [
            "while paying",
            "no invoice",
            "invalid digit found in string",
        ];
        assert_eq!(texts, expected);
        assert_eq!(Advice::of(&anyhow!("nothing said")), Advice::Usual);
    }

    #[test]
    fn a_word_is_heard_through_a_type_of_the_users() {
        #[derive(Debug, thiserror::Error)]
        #[error("outer")]
        struct Outer(#[source] anyhow::Error);

        let error = Outer(permanent(anyhow!("inner")));
        let result: Result<(), Outer> = Err(error);
        let error = result.context("top").unwrap_err();
        assert_eq!(Advice::of(&error), Advice::Permanent);
    }

    #[test]
    fn a_time_that_was_said_is_spread_upwards_and_capped() {
        let usual = || Duration::from_millis(1);
        let most = Duration::from_secs(300);
        let wait = |seconds, random| {
            let advice = Advice::After(Duration::from_secs(seconds));
            advice.wait(most, random, usual)
        };
        assert_eq!(wait(10, 0.0), Duration::from_secs(10));
        assert_eq!(wait(10, 0.5), Duration::from_millis(10_500));
        assert_eq!(wait(299, 0.99), most);
        assert_eq!(wait(u64::MAX, 0.99), most);
        assert_eq!(wait(0, 0.99), Duration::from_millis(1));
        for broken in [f64::NAN, -1.0, 7.0, f64::INFINITY] {
            let waited = wait(10, broken);
            assert!(waited >= Duration::from_secs(10) && waited <= Duration::from_secs(11));
        }
    }
}
