//! `explore_orders`: the ends of concurrent commands in many orders, and the seed of the one that fails.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use futures::stream::{FuturesUnordered, StreamExt};
use skail_runtime::prelude::*;
use skail_runtime::testing::{TestSkail, crash_everywhere, explore_orders};

#[skail_command]
async fn echo(number: u32) -> anyhow::Result<u32> {
    Ok(number)
}

/// The order in which three commands end.
#[skail_function]
async fn order_of_three() -> anyhow::Result<Vec<u32>> {
    let mut running: FuturesUnordered<_> = (0..3).map(echo).collect();
    let mut ended = Vec::new();
    while let Some(number) = running.next().await {
        ended.push(number?);
    }
    Ok(ended)
}

#[tokio::test]
async fn some_seeds_are_enough_for_every_order_of_three() {
    let orders = Arc::new(Mutex::new(BTreeSet::new()));
    explore_orders(0..100, async |test| {
        let test = test.start().await?;
        let order = test.run(order_of_three()).await?;
        orders.lock().unwrap().insert(order);
        anyhow::Ok(())
    })
    .await
    .unwrap();
    assert_eq!(orders.lock().unwrap().len(), 6);
}

#[tokio::test]
async fn a_seed_repeats_its_order() {
    for seed in 0..20 {
        let mut came = Vec::new();
        for _ in 0..3 {
            let test = TestSkail::builder()
                .completion_order(seed)
                .start()
                .await
                .unwrap();
            came.push(test.run(order_of_three()).await.unwrap());
        }
        assert!(came.windows(2).all(|two| two[0] == two[1]), "{came:?}");
    }
}

#[tokio::test]
async fn what_a_test_says_or_panics_with_is_told_with_the_seed_that_repeats_it() {
    let in_order = async |test: skail_runtime::testing::TestBuilder| {
        let test = test.start().await?;
        let order = test.run(order_of_three()).await?;
        anyhow::ensure!(order == [0, 1, 2], "it came as {order:?}");
        Ok(())
    };
    let error = explore_orders(0..100, in_order).await.unwrap_err();
    let repeated = in_order(TestSkail::builder().completion_order(error.seed)).await;
    assert_eq!(repeated.unwrap_err().to_string(), error.problem);
    let says = format!(
        "`.completion_order({})` repeats it): it came as",
        error.seed
    );
    assert!(format!("{error:?}").contains(&says), "{error}");

    let panics = explore_orders([7], async |_| -> anyhow::Result<()> {
        panic!("not like this")
    });
    let error = panics.await.unwrap_err();
    assert_eq!((error.seed, error.problem.as_str()), (7, "not like this"));
}

#[skail_function]
async fn sums() -> anyhow::Result<u32> {
    Ok(order_of_three_steps().await?.into_iter().sum())
}

async fn order_of_three_steps() -> anyhow::Result<Vec<u32>> {
    Ok(futures::future::try_join_all((0..3).map(echo)).await?)
}

#[tokio::test]
async fn crashes_can_be_tried_in_another_order_too() {
    for seed in 0..10 {
        let setup = || (TestSkail::builder().completion_order(seed), || ());
        let report = crash_everywhere(sums, setup).await.unwrap();
        assert!((2..=4).contains(&report.commits), "{report:?}");
    }
}
