//! A crash before and after every single commit of functions that ask for values, change and wait.

use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt as _};
use skail_runtime::history::Event;
use skail_runtime::prelude::*;
use skail_tests::{CrashPoint, Moment};

use super::every_event::{World, everywhere, live};

const HOUR: Duration = Duration::from_secs(3_600);

/// What it is given is not random, so that lives can be compared.
#[skail_command]
async fn book(#[state] world: &World, name: String) -> anyhow::Result<String> {
    world.apply(&format!("booked {name}"));
    Ok(name)
}

#[skail_command]
async fn idles() -> anyhow::Result<String> {
    std::future::pending().await
}

#[skail_function]
async fn asks_for_values(#[state] world: &World) -> anyhow::Result<usize> {
    let began = now().await?;
    world.given("began", began);
    let (drawn, booked, id) = tokio::join!(random::<u64>(), book("first".to_owned()), uuid());
    world.given("drawn", drawn?);
    world.given("id", id?);
    let lost = tokio::select! {
        biased;
        idled = idles() => idled?,
        number = random::<u32>() => {
            world.given("raced", number?);
            "a value".to_owned()
        }
    };
    let mut all: FuturesUnordered<_> = ["x", "y", "z"]
        .into_iter()
        .map(|name| record(name, move || format!("{name}{}", fastrand::u64(..))))
        .collect();
    while let Some(made) = all.next().await {
        let made = made?;
        world.given(&made[..1], &made);
    }
    let too_large = record("too large", || Some(None::<u8>)).await;
    anyhow::ensure!(too_large.is_err(), "it was recorded");
    world.given("ended", now().await?.duration_since(began).is_ok());
    Ok(booked?.len() + lost.len())
}

#[skail_function]
async fn changes() -> anyhow::Result<Vec<String>> {
    let mut all = vec![book("before".to_owned()).await?];
    if patched("first").await? {
        let (one, other) = tokio::join!(book("one".to_owned()), async {
            match patched("second").await {
                Ok(true) => book("other".to_owned()).await.map_err(anyhow::Error::from),
                Ok(false) => anyhow::bail!("a new execution takes the new way"),
                Err(error) => Err(error.into()),
            }
        });
        all.extend([one?, other?]);
    }
    for _ in 0..2 {
        anyhow::ensure!(patched("first").await?, "a new execution takes the new way");
        all.push(book("again".to_owned()).await?);
    }
    Ok(all)
}

#[skail_function]
async fn waits(#[state] world: &World) -> anyhow::Result<Vec<u32>> {
    let began = now().await?;
    sleep(Duration::ZERO).await?;
    sleep(Duration::from_secs(2)).await?;
    sleep(HOUR).await?;
    let mut order = Vec::new();
    let mut all: FuturesUnordered<_> = [3, 1, 2]
        .into_iter()
        .map(|hours| async move { sleep(HOUR * hours).await.map(|()| hours) })
        .collect();
    while let Some(hours) = all.next().await {
        order.push(hours?);
    }
    let (slept, booked) = tokio::join!(sleep(HOUR), book("meanwhile".to_owned()));
    slept?;
    booked?;
    order.push(tokio::select! {
        biased;
        _ = sleep(HOUR * 9) => 9,
        _ = sleep_until(began) => 0,
    });
    order.push(tokio::select! {
        biased;
        _ = sleep(HOUR * 9) => 9,
        _ = sleep(HOUR) => 1,
    });
    // The losers' times pass too.
    sleep(HOUR * 12).await?;
    let waited = now().await?.duration_since(began)?;
    let expected = HOUR * 18 + Duration::from_secs(2);
    anyhow::ensure!(waited >= expected, "it waited for {waited:?} only");
    world.given("waited", waited);
    Ok(order)
}

#[skail_function(retry_count = 3, backoff(base = "1h", cap = "1h", jitter = "none"))]
async fn waits_through_failures(#[state] world: &World) -> anyhow::Result<u32> {
    let mut waits = std::pin::pin!(sleep(HOUR * 2));
    let _ = futures::poll!(&mut waits);
    let booked = book("beside".to_owned()).await?;
    let now = now().await?;
    world.given("now", now);
    anyhow::ensure!(
        world.failed_before(2),
        "{booked}, and it fails the first two times"
    );
    waits.await?;
    Ok(7)
}

#[skail_command(
    retry_count = 1000,
    backoff(base = "10h", cap = "10h", jitter = "none")
)]
async fn takes_for_ever() -> anyhow::Result<()> {
    anyhow::bail!("not now")
}

#[skail_function]
async fn bounds(#[state] world: &World) -> anyhow::Result<Vec<String>> {
    let mut all = Vec::new();
    let booked = timeout(HOUR, book("in time".to_owned())).await;
    all.push(booked??);
    for most in [Duration::ZERO, Duration::from_secs(3), HOUR] {
        let never = timeout(most, takes_for_ever()).await;
        all.push(
            never
                .err()
                .map_or_else(String::new, |elapsed| elapsed.to_string()),
        );
    }
    let block = timeout(HOUR * 2, async {
        sleep(HOUR).await?;
        book("in the block".to_owned()).await?;
        sleep(HOUR * 3).await?;
        anyhow::Ok(())
    });
    all.push(format!("{:?}", block.await.is_ok()));
    world.given("ended", now().await?);
    Ok(all)
}

#[tokio::test]
async fn bounded_steps() {
    assert!(everywhere(bounds).await >= 12);
}

#[tokio::test]
async fn values() {
    assert!(everywhere(asks_for_values).await >= 7);
}

#[tokio::test]
async fn changed_code() {
    assert!(everywhere(changes).await >= 5);
    for commit in 0..5 {
        for moment in [Moment::Before, Moment::After] {
            let crash = Some(CrashPoint { commit, moment });
            let (.., history) = live(changes, crash).await;
            let patch = |event: &&Event| matches!(event, Event::Patched { .. });
            assert_eq!(history.iter().filter(patch).count(), 4, "{crash:?}");
        }
    }
}

#[tokio::test]
async fn sleeps() {
    assert!(everywhere(waits).await >= 20);
}

#[tokio::test]
async fn sleeps_over_failed_attempts() {
    assert!(everywhere(waits_through_failures).await >= 6);
}
