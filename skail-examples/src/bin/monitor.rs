//! A shop with a bad day and a Monitor: orders fail until Enter is pressed, then they can be resumed.
//!
//! `cargo run -p skail-examples --bin monitor` prints the address of the page.
#![allow(clippy::print_stdout, reason = "a program that talks to its user")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use skail_runtime::prelude::*;
use skail_runtime::store::MemoryStore;

/// Stands for the client of a payment gateway.
#[derive(Clone, Default)]
struct Gateway {
    up: Arc<AtomicBool>,
}

#[skail_command]
async fn reserve(order: u32) -> anyhow::Result<String> {
    Ok(format!("shelf {}", order % 7))
}

#[skail_command(
    retry_count = 3,
    backoff(base = "200ms", cap = "1s"),
    dependency = "gateway"
)]
async fn charge(#[state] gateway: &Gateway, order: u32, cents: u32) -> anyhow::Result<String> {
    // Orders of some customers go another way, and work all day.
    if order.is_multiple_of(3) && !gateway.up.load(Ordering::Relaxed) {
        let cause = anyhow::anyhow!("connection refused by payments.example:443");
        return Err(cause.context(format!("{cents} cents of order {order} were not charged")));
    }
    Ok(format!("receipt {order}"))
}

#[skail_function(retry_count = 0)]
async fn sell(order: u32, cents: u32) -> anyhow::Result<String> {
    reserve(order).await?;
    let receipt = charge(order, cents).await?;
    sleep(Duration::from_secs(u64::from(order % 5) * 15)).await?;
    Ok(receipt)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let gateway = Gateway::default();
    let skail = Skail::builder()
        .store(MemoryStore::new())
        .state(gateway.clone())
        .start()
        .await?;
    let monitor = skail_monitor::serve(&skail, "127.0.0.1:7878").await?;
    println!("the Monitor is at {}", monitor.url());
    println!("the gateway is down; press Enter when it shall be up, and Ctrl-C to end");
    for order in 1..=20 {
        let start = skail.start(sell(order, order * 1995));
        let customer = format!("customer-{}", order % 4);
        start
            .id(format!("order-{order}"))
            .tag("customer", customer)
            .await?;
    }
    // A thread that waits for a line cannot be ended; the program does not wait for it.
    std::thread::spawn(move || {
        if std::io::stdin()
            .read_line(&mut String::new())
            .is_ok_and(|read| read > 0)
        {
            gateway.up.store(true, Ordering::Relaxed);
            println!("the gateway is up: resume what failed");
        }
    });
    tokio::signal::ctrl_c().await?;
    monitor.stop().await;
    skail.shutdown().await?;
    Ok(())
}
