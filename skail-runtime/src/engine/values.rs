//! Values that differ from run to run, recorded so that a function gets the same again.
//!
//! Owns what users call for the time, for randomness, for an id, for a value of their own. Must never
//! make a value whose record is there.

use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::request::{Request, Source};
use super::step_call::StepCall;
use crate::clock::Timestamp;
use crate::codec::{Payload, encode_surviving};
use crate::history::StepKind;

/// The time, to the millisecond, recorded: whenever the function runs again it gets this one.
///
/// Within one execution it never runs backwards, however the machine's clock was set, and whichever
/// machine the execution goes on on.
///
/// ```
/// # use skail_runtime::prelude::*;
/// # use std::time::Duration;
/// #[skail_function]
/// async fn offer(customer: u32) -> anyhow::Result<String> {
///     let ends = now().await? + Duration::from_secs(14 * 24 * 3600);
///     Ok(format!("offer for {customer}, until {ends:?}"))
/// }
/// ```
///
/// # Errors
/// Awaited, it gives a [`StepError`](crate::StepError) of kind
/// [`Misplaced`](crate::FailureKind::Misplaced) anywhere but in a function.
pub fn now() -> StepCall<'static, SystemTime> {
    let request = Request::Value(Source::Now);
    StepCall::new(StepKind::Now, "now", request, |value| {
        value.decode::<Timestamp>().map(SystemTime::from)
    })
}

/// A random number, recorded: whenever the function runs again it gets this one.
///
/// Any value of an integer type or `bool` is as likely as any other; `f32` and `f64` are from `[0, 1)`.
/// It is not for secrets: who knows some of the numbers can guess others.
///
/// ```
/// # use skail_runtime::prelude::*;
/// #[skail_function]
/// async fn draw(tickets: Vec<String>) -> anyhow::Result<Option<String>> {
///     let mut winner = random::<u64>().await?;
///     winner %= tickets.len().max(1) as u64;
///     Ok(tickets.into_iter().nth(winner as usize))
/// }
/// ```
///
/// # Errors
/// Awaited, it gives a [`StepError`](crate::StepError) of kind
/// [`Misplaced`](crate::FailureKind::Misplaced) anywhere but in a function.
pub fn random<T: Random>() -> StepCall<'static, T> {
    let request = Request::Value(Source::Random(|random| Payload::encode(&T::draw(random))));
    StepCall::new(StepKind::Random, "random", request, Payload::decode)
}

/// A new id, recorded: a UUID of version 7, so that later ones sort after earlier ones.
///
/// Two calls give two ids. Like [`random`], it is not for secrets.
///
/// ```
/// # use skail_runtime::prelude::*;
/// #[skail_command]
/// async fn open_account(id: String, owner: String) -> anyhow::Result<()> {
///     # let _ = (id, owner);
///     Ok(())
/// }
///
/// #[skail_function]
/// async fn welcome(owner: String) -> anyhow::Result<String> {
///     let id = uuid().await?.to_string();
///     open_account(id.clone(), owner).await?;
///     Ok(id)
/// }
/// ```
///
/// # Errors
/// Awaited, it gives a [`StepError`](crate::StepError) of kind
/// [`Misplaced`](crate::FailureKind::Misplaced) anywhere but in a function.
pub fn uuid() -> StepCall<'static, Uuid> {
    let request = Request::Value(Source::Uuid);
    StepCall::new(StepKind::Uuid, "uuid", request, Payload::decode)
}

/// A value that `make` gives, recorded under `name`: whenever the function runs again it gets this one,
/// and `make` is not called.
///
/// For what differs from run to run and is at hand at once: a setting, the name of the machine, a number
/// from a generator of your own. Whatever waits, fails or has an effect is a
/// [command](crate::skail_command): `make` is called again when the process dies before the value is
/// recorded, and it runs on the thread that all functions share.
///
/// ```
/// # use skail_runtime::prelude::*;
/// #[skail_function]
/// async fn report() -> anyhow::Result<String> {
///     let region = record("region", || std::env::var("REGION").ok()).await?;
///     Ok(region.unwrap_or_else(|| "somewhere".to_owned()))
/// }
/// ```
///
/// # Errors
/// Awaited, it gives a [`StepError`](crate::StepError) of kind
/// [`Misplaced`](crate::FailureKind::Misplaced) anywhere but in a function, and of kind
/// [`Unrecordable`](crate::FailureKind::Unrecordable) for a value that does not come back from its record
/// as what it was, or is larger than [`payload_limit`](crate::Builder::payload_limit).
///
/// # Panics
/// If `make` does: for the function that is a panic like any other.
pub fn record<'f, T>(
    name: impl Into<String>,
    make: impl FnOnce() -> T + Send + 'f,
) -> StepCall<'f, T>
where
    T: Serialize + DeserializeOwned,
{
    let request = Request::Value(Source::Call);
    StepCall::new(StepKind::Record, name.into(), request, Payload::decode)
        // How large it may be, the driver knows.
        .make(move || encode_surviving(&make(), usize::MAX))
}

/// A type that [`random`] can draw: the integers, `bool`, `f32` and `f64`.
pub trait Random: sealed::Draw + Serialize + DeserializeOwned {}

mod sealed {
    pub trait Draw {
        fn draw(random: &mut fastrand::Rng) -> Self;
    }
}

macro_rules! random {
    ($($type:ident: $draw:expr;)*) => {
        $(
            impl sealed::Draw for $type {
                fn draw(random: &mut fastrand::Rng) -> Self {
                    let draw: fn(&mut fastrand::Rng) -> $type = $draw;
                    draw(random)
                }
            }
            impl Random for $type {}
        )*
    };
}

random! {
    u8: |random| random.u8(..);
    u16: |random| random.u16(..);
    u32: |random| random.u32(..);
    u64: |random| random.u64(..);
    u128: |random| random.u128(..);
    i8: |random| random.i8(..);
    i16: |random| random.i16(..);
    i32: |random| random.i32(..);
    i64: |random| random.i64(..);
    i128: |random| random.i128(..);
    bool: fastrand::Rng::bool;
    f32: fastrand::Rng::f32;
    f64: fastrand::Rng::f64;
}
